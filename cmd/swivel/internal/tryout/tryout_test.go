package tryout

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/listentest"
)

func pemOf(der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}) }

// ipServer answers with the address of who asks.
func ipServer(t *testing.T, secure bool) (url string, roots *x509.CertPool) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		_, _ = fmt.Fprintf(w, `{"origin": "%s", "path": "%s"}`, host, r.URL)
	}))
	roots = x509.NewCertPool()
	if secure {
		server.StartTLS()
		roots.AddCert(server.Certificate())
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server.URL, roots
}

func specs(t *testing.T, lines ...string) []*pool.Spec {
	t.Helper()
	var all []*pool.Spec
	for _, line := range lines {
		parsed, err := pool.ParseLine(line, nil)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, parsed...)
	}
	return all
}

// tryAll returns what was found, by the order of the lines.
func tryAll(t *testing.T, c Checker, lines ...string) []Result {
	t.Helper()
	results := make([]Result, len(lines))
	c.Run(t.Context(), specs(t, lines...), func(r Result) { results[r.Index] = r })
	return results
}

func TestProtocolsAreFoundWhateverTheLineSays(t *testing.T) {
	secure, ca := overTLS(t, httpProxy(""))
	addresses := map[string]string{
		"http": listentest.Serve(t, httpProxy("")), "socks5": listentest.Serve(t, socks5Proxy), "socks4": listentest.Serve(t, socks4Proxy), "https": listentest.Serve(t, secure),
	}
	var lines, want []string
	for _, spoken := range []string{"http", "socks5", "socks4", "https"} {
		for _, listed := range []string{"http", "https", "socks4", "socks4a", "socks5", "socks5h"} {
			lines = append(lines, listed+"://"+addresses[spoken]+" ca="+ca)
			if strings.HasPrefix(listed, spoken) && len(listed) == len(spoken)+1 && spoken != "http" {
				want = append(want, listed)
			} else {
				want = append(want, spoken)
			}
		}
	}
	plain, _ := ipServer(t, false)
	page, roots := ipServer(t, true)
	for _, text := range []string{plain, page, strings.TrimPrefix(plain, "http://")} {
		target, err := ParseTarget(text)
		if err != nil {
			t.Fatal(err)
		}
		c := Checker{Target: target, Timeout: 5 * time.Second, Concurrency: len(lines), Roots: roots}
		for i, r := range tryAll(t, c, lines...) {
			if !r.Alive || r.Spoken.String() != want[i] || r.Latency <= 0 || r.Spec.Scheme.String() != strings.Split(lines[i], ":")[0] {
				t.Errorf("%s by %s: %+v, want %s", text, lines[i], r, want[i])
			}
			if strings.Contains(text, "://") && r.ExitIP.String() != "127.0.0.1" || !strings.Contains(text, "://") && r.ExitIP.IsValid() {
				t.Errorf("%s by %s leaves from %v", text, lines[i], r.ExitIP)
			}
		}
	}
}

func TestWhyProxiesAreDead(t *testing.T) {
	page, roots := ipServer(t, true)
	target, err := ParseTarget(page)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{
		"http://" + listentest.Reserved(t, "127.0.0.1").String(), "http://" + listentest.Serve(t, silent), "http://" + listentest.Serve(t, liar), "http://user:s3cret@" + listentest.Serve(t, httpProxy("eDp5")),
		"http://no.such.name.invalid:1", "https://user:s3cret@" + listentest.Serve(t, httpProxy("eDp5")), "http://" + listentest.Serve(t, clearText),
	}
	c := Checker{Target: target, Timeout: 700 * time.Millisecond, Concurrency: 10, Roots: roots}
	results := tryAll(t, c, lines...)
	for i, want := range []string{
		"dial_refused: ", "handshake_timeout: no answer in time", "tunnel_closed: the tunnel opened, and then was closed", "handshake_auth: the proxy answered 407",
		"dial_", "speaks http and wants a password, which was not sent without TLS", "no TLS: what comes through the tunnel is something else",
	} {
		if r := results[i]; r.Alive || !strings.HasPrefix(r.Reason, want) || strings.Contains(r.Reason, "s3cret") {
			t.Errorf("%s: %+v, want %s", lines[i], r, want)
		}
	}
	missing, _ := ParseTarget(strings.Replace(page, "https:", "http:", 1)) // which answers that with 400
	for _, scheme := range []string{"http", "socks5"} {
		c.Target = missing
		if r := tryAll(t, c, scheme+"://"+listentest.Serve(t, map[string]func(net.Conn){"http": httpProxy(""), "socks5": socks5Proxy}[scheme]))[0]; r.Alive || !strings.HasPrefix(r.Reason, "handshake_rejected: the answer is 400") {
			t.Errorf("%+v", r)
		}
	}
	c.Target = target
	c.Roots = x509.NewCertPool() // of nobody: as if somebody answered in the target's place
	if r := tryAll(t, c, "http://"+listentest.Serve(t, httpProxy("")))[0]; r.Alive || !strings.HasPrefix(r.Reason, "wrong certificate: ") {
		t.Errorf("%+v", r)
	}
}

// A thousand proxies of which nine hundred are dead used to be what a check of a
// free list never came to the end of.
func TestMostOfALargeListIsDead(t *testing.T) {
	page, _ := ipServer(t, false)
	target, err := ParseTarget(strings.TrimPrefix(page, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	alive, mute, gone := listentest.Serve(t, httpProxy("")), listentest.Serve(t, silent), listentest.Reserved(t, "127.0.0.1").String()
	var lines []string
	for i := range 300 { // credentials make them different ones
		address := []string{alive, mute, mute, mute, mute, mute, mute, gone, gone, gone}[i%10]
		lines = append(lines, fmt.Sprintf("http://user%d:x@%s", i, address))
	}
	// A machine that runs other tests as well may stand still for a second or two.
	c := Checker{Target: target, Timeout: 4 * time.Second, Concurrency: 60}
	begun := time.Now()
	n := 0
	for i, r := range tryAll(t, c, lines...) {
		if r.Alive != (i%10 == 0) {
			t.Errorf("%s: %+v", lines[i], r)
		}
		if r.Alive {
			n++
		}
	}
	if took := time.Since(begun); n != 30 || took > 6*c.Timeout {
		t.Errorf("%d alive after %v", n, took)
	} else {
		t.Logf("300 proxies, 270 dead, in %v", took)
	}
}

func TestEndedCheckLeavesUndecidedWhatItWasTrying(t *testing.T) {
	target, err := ParseTarget("127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	refused, mute := listentest.Reserved(t, "127.0.0.1").String(), listentest.Serve(t, silent)
	ctx, cancel := context.WithCancel(t.Context())
	c := Checker{Target: target, Timeout: time.Minute, Concurrency: 1}
	n := 0
	c.Run(ctx, specs(t, refused, refused, mute, refused), func(r Result) {
		if n++; n == 2 {
			cancel()
		}
	})
	if n != 2 {
		t.Errorf("%d results", n)
	}
}

func TestTargetsThatAreNone(t *testing.T) {
	for _, text := range []string{"", "ftp://x", "https://", "https://user:pass@x/", "x:0", "x:http", "http://x:99999"} {
		if target, err := ParseTarget(text); err == nil {
			t.Errorf("%q: %+v", text, target)
		}
	}
}

func TestAddressIsFoundInWhatSuchServicesAnswer(t *testing.T) {
	for body, want := range map[string]string{
		"192.0.2.1\n": "192.0.2.1", `{"ip":"2001:db8::1"}`: "2001:db8::1", `{"origin": "192.0.2.1, 192.0.2.2"}`: "192.0.2.1",
		"fl=1\nip=192.0.2.3\nts=1.5\n": "192.0.2.3", "<HTML>192.0.2.1</HTML>": "invalid IP", "": "invalid IP", "version 1.2.3": "invalid IP", "fe80::1%eth0": "invalid IP",
	} {
		if got := exitIP([]byte(body)).String(); got != want {
			t.Errorf("%q: %s, want %s", body, got, want)
		}
	}
}
