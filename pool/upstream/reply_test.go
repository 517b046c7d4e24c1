package upstream

import (
	"testing"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/http1"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                               0,
		"0":                              0,
		"-5":                             0,
		"1.5":                            0,
		"soon":                           0,
		"90":                             90 * time.Second,
		"4294967295":                     maxRest,
		"99999999999999999999":           maxRest,
		"Sun, 01 Mar 2026 12:01:00 GMT":  time.Minute,
		"Sunday, 01-Mar-26 12:01:00 GMT": time.Minute,
		"Sun Mar  1 12:01:00 2026":       time.Minute,
		"Sun, 01 Mar 2026 11:59:00 GMT":  0,
		"Sun, 01 Mar 2099 12:00:00 GMT":  maxRest,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

func TestRepliesThatNameTheTarget(t *testing.T) {
	for _, c := range []struct {
		field http1.Field
		want  pool.Signal
	}{
		{http1.Field{Name: "X-Squid-Error", Value: "ERR_DNS_FAIL 0"}, pool.TargetNamed},
		{http1.Field{Name: "X-Squid-Error", Value: "ERR_CONNECT_FAIL 111"}, pool.HandshakeGateway},
		{http1.Field{Name: "Proxy-Status", Value: "exit; error=dns_error; rcode=NXDOMAIN"}, pool.TargetNamed},
		{http1.Field{Name: "proxy-status", Value: "a, exit;error=destination_not_found"}, pool.TargetNamed},
		{http1.Field{Name: "Proxy-Status", Value: "exit; error=connection_timeout"}, pool.HandshakeGateway},
		{http1.Field{Name: "Proxy-Status", Value: `exit; details="\"; error=dns_error, "`}, pool.HandshakeGateway},
		{http1.Field{Name: "Proxy-Status", Value: `exit; details="a;b"; error=dns_error`}, pool.TargetNamed},
		{http1.Field{Name: "Proxy-Status", Value: `exit; details="never closed; error=dns_error`}, pool.HandshakeGateway},
	} {
		got, _ := ReplySignal(&http1.Response{Status: 502, Fields: http1.Fields{c.field}}, time.Now())
		if got != c.want {
			t.Errorf("%v: %v, want %v", c.field, got, c.want)
		}
	}
}

// TestEveryStatusHasASignal: nothing but a 2xx may pass for a tunnel.
func TestEveryStatusHasASignal(t *testing.T) {
	for s := 100; s < 1000; s++ {
		got, _ := ReplySignal(&http1.Response{Status: s}, time.Now())
		if (got == pool.NoSignal) != (s/100 == 2) {
			t.Errorf("%d: %v", s, got)
		}
	}
}
