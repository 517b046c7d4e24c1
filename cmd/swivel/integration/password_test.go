package integration

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// TestWrongPasswordRestsTheProxyAtOnce: real proxies that turn a password down
// are not asked again and again, and their 407 is not the client's business.
func TestWrongPasswordRestsTheProxyAtOnce(t *testing.T) {
	o := newOrigin(t)
	for _, kind := range peers {
		if !strings.HasSuffix(kind.name, "with a password") {
			continue
		}
		t.Run(kind.name, func(t *testing.T) {
			line := strings.Replace(kind.start(t, o.ca).line, peerCore, "wrong", 1)
			d := startDaemon(t, swiveltest.Setup{Lines: []string{line + " name=misspelt"}})
			for _, url := range []string{o.http + "/ip", o.https + "/ip"} {
				checkUnavailable(t, d.browse(o), url)
			}
			m := d.Member(t, "misspelt")
			if m.State != "open" || m.Cause != "refused" {
				t.Errorf("the proxy is %s because of %q, want open because of refused", m.State, m.Cause)
			}
			if left := time.Until(m.Due()); left < 10*time.Minute {
				t.Errorf("the proxy is tried again in %v, want at least ten minutes", left)
			}
			if n := len(d.attemptsOf(t, m.ID)); n != 1 {
				t.Errorf("the proxy was tried %d times, want once", n)
			}
		})
	}
}

// checkUnavailable wants a refusal that is swivel's own.
func checkUnavailable(t *testing.T, client *http.Client, url string) {
	t.Helper()
	resp, err := client.Get(url)
	if err != nil { // Go's client makes an error of the answer to a CONNECT
		if !strings.Contains(err.Error(), "no proxy of the pool is available") {
			t.Errorf("%s: %v", url, err)
		}
		return
	}
	defer resp.Body.Close()
	if code := resp.Header.Get("X-Swivel-Error"); code == "" || resp.StatusCode < 502 {
		t.Errorf("%s: %s with X-Swivel-Error %q, want 502 or 503 of swivel's own", url, resp.Status, code)
	}
}
