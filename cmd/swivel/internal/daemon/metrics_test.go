package daemon

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestAdminListenerTellsTheMetrics(t *testing.T) {
	r := newRig(t, scripted(t, "HTTP/1.1 407 Auth\r\n\r\n", nothing)+" name=a")
	r.start()
	if status := r.connect("a.test:443"); status != 502 {
		t.Errorf("status %d", status)
	}
	r.Reload()
	want := []string{
		`swivel_exchanges_total{kind="connect",status="502"} 1`,
		`swivel_attempts_total{outcome="refused",signal="handshake_auth"} 1`,
		`swivel_transitions_total{from="closed",rule="refused",to="open"} 1`,
		`swivel_breaker_state{proxy="` + string(r.proxy("a").ID) + `"} 2`,
		`swivel_reloads_total{result="success"} 1`,
		`swivel_journal_failed_writes_total 0`,
	}
	var text string
	r.eventually("the exchange is counted", func() bool {
		resp, err := http.Get("http://" + r.AdminAddr().String() + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		text = string(body)
		return strings.Contains(text, want[0])
	})
	for _, line := range want {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("no %s", line)
		}
	}
}
