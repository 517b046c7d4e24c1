package integration

import (
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// TestACanaryBringsAProxyBackWithoutAClient: an upstream dies and comes back, and
// nobody asks for anything meanwhile.
func TestACanaryBringsAProxyBackWithoutAClient(t *testing.T) {
	o := newOrigin(t)
	curl := installed(t, "curl", "curl")
	for scheme, url := range map[string]string{"http": o.http, "https": o.https} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			squid := startSquid(t, o.ca)
			y := newToy(t, "127.0.0.31")
			d := startDaemon(t, swiveltest.Setup{Lines: []string{y.hostPort + " name=ill", squid.line}, Env: []string{
				"SWIVEL_CANARY_URL=" + url + "/ip", "SSL_CERT_FILE=" + o.ca.file,
				"SWIVEL_BREAKER_OPEN_TIMEOUT=1s", "SWIVEL_LOG_LEVEL=debug",
			}})
			requests := 0
			swiveltest.Eventually(t, 20*time.Second, "the breaker opens", func() bool {
				requests++
				runClient(t, "", curl, "-sS", "--fail", "--proxy", "http://"+d.Listen, "--noproxy", "", "--cacert", o.ca.file, o.https+"/ip")
				return d.Member(t, "ill").State == "open"
			})
			y.open(t, carry)
			swiveltest.Eventually(t, 20*time.Second, "the canary closes it", func() bool { return d.Member(t, "ill").State == "closed" })
			if n := d.exchangesOver(t); n != requests {
				t.Errorf("%d exchanges are counted, want %d: the canary's are none", n, requests)
			}
			if text := d.Get(t, "/metrics"); !strings.Contains(text, `swivel_canary_attempts_total{outcome="success",signal="response"} 2`) {
				t.Errorf("metrics: %s", text)
			}
			swiveltest.Eventually(t, 5*time.Second, "both tests are logged", func() bool { return len(d.Lines(t, "canary")) >= 2 })
		})
	}
}
