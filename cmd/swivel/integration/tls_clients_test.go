package integration

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// withoutTLS are the clients that know no proxies with TLS, or no TLS inside TLS, as
// the README says.
var withoutTLS = map[string]bool{"wget": true, "Scrapy": true, "httpx": true}

// tlsSetup has a daemon speak TLS, with a certificate of the authority.
func tlsSetup(t *testing.T, ca *authority) []string {
	t.Helper()
	dir := t.TempDir()
	cert, key := ca.issue(t, "127.0.0.1")
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeFile(t, certFile, string(cert), 0o600)
	writeFile(t, keyFile, string(key), 0o600)
	return []string{"SWIVEL_TLS_CERT=" + certFile, "SWIVEL_TLS_KEY=" + keyFile}
}

// TestRecipesWorkOverTLS runs the programs of docs/recipes.md with an https:// proxy
// URL, or a word more where a client has one for the authority of a proxy.
func TestRecipesWorkOverTLS(t *testing.T) {
	k := newKitchen(t)
	overTLS := strings.NewReplacer(
		"http://127.0.0.1:8484", "https://127.0.0.1:8484", "http://scraper-", "https://scraper-", `Scheme: "http"`, `Scheme: "https"`,
		"curl ", "curl --proxy-cacert "+k.ca.file+" ", "git ", "git -c http.proxySSLCAInfo="+k.ca.file+" ",
	)
	for _, r := range recipes(t) {
		if notRun[r.title] || withoutTLS[r.title] {
			continue
		}
		r.code = overTLS.Replace(r.code)
		t.Run(r.title, func(t *testing.T) {
			t.Parallel()
			d := startDaemon(t, swiveltest.Setup{Lines: []string{k.upstream}, Env: append(tlsSetup(t, k.ca), "SWIVEL_USERS="+k.user)})
			if out := k.run(t, d, r); !strings.Contains(out, proof) {
				t.Errorf("it printed %q", out)
			}
			d.awaitSession(t, "a1")
		})
	}
}

// TestClientThatDoesNotTrustTheCertificateIsToldApart: OpenSSL says why without
// encryption, where the server expects it.
func TestClientThatDoesNotTrustTheCertificateIsToldApart(t *testing.T) {
	ca := newAuthority(t)
	for _, version := range []string{"--tlsv1.3", "--tls-max 1.2"} {
		d := startDaemon(t, swiveltest.Setup{Lines: []string{"127.0.0.1:9"}, Env: tlsSetup(t, ca)})
		args := append(strings.Fields(version), "-sS", "--max-time", "10", "https://"+d.Listen+"/")
		if out, err := exec.Command("curl", args...).CombinedOutput(); err == nil {
			t.Fatalf("curl trusts everybody: %s", out)
		}
		swiveltest.Eventually(t, 10*time.Second, "the log says why", func() bool {
			return strings.Contains(d.Output(t), "unknown certificate authority")
		})
	}
}
