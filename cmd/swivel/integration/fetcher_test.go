package integration

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// fetcher is a real client program. Its fetch gets the URL through the proxy,
// with a body as POST, and returns the answer's body. Every call is a new
// process, and so a new connection.
type fetcher struct {
	name  string
	fetch func(t testing.TB, o *origin, proxy, url, body string) string
}

func fetchers(t testing.TB) []fetcher {
	t.Helper()
	curl := installed(t, "curl", "curl")
	all := []fetcher{{"curl", func(t testing.TB, o *origin, proxy, url, body string) string {
		args := []string{"-sS", "--fail", "--max-time", "20", "--noproxy", "", "--proxy", proxy, "--cacert", o.ca.file}
		if body != "" {
			args = append(args, "--data-binary", "@-")
		}
		return runClient(t, body, curl, append(args, url)...)
	}}}
	for _, library := range []string{"requests", "httpx"} {
		pythonModule(t, library)
		all = append(all, fetcher{library, func(t testing.TB, o *origin, proxy, url, body string) string {
			return runClient(t, body, python, "testdata/fetch.py", library, proxy, o.ca.file, url)
		}})
	}
	return all
}

// runClient returns what the program prints, given the input.
func runClient(t testing.TB, input, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = swiveltest.PlainEnv()
	cmd.Stdin = strings.NewReader(input)
	var errOut strings.Builder
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", cmd, err, errOut.String())
	}
	return string(out)
}

// browse returns a client inside the test that opens a tunnel for each request,
// for tests that need many.
func (d daemon) browse(o *origin) *http.Client {
	return &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
		Proxy:             http.ProxyURL(&url.URL{Scheme: "http", Host: d.Listen}),
		TLSClientConfig:   &tls.Config{RootCAs: o.ca.pool},
		DisableKeepAlives: true,
	}}
}

// get returns the body of a 200.
func get(c *http.Client, url string) (string, error) {
	resp, err := c.Get(url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, body)
	}
	return string(body), err
}
