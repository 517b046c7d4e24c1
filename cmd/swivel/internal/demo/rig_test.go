package demo_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/config"
	"swivel/cmd/swivel/internal/daemon"
	"swivel/cmd/swivel/internal/demo"
	"swivel/cmd/swivel/internal/eventlog"
	"swivel/cmd/swivel/internal/eventlog/logtest"
)

// patience is how long a condition may take on a busy machine.
const patience = 30 * time.Second

// rig is toys, a daemon over them, and a client of it.
type rig struct {
	toys   *demo.Demo
	daemon *daemon.Daemon
	client *http.Client
	log    *logtest.Buffer
	close  func()
}

// newRig starts all; slow is hardly late, so that tests are not either.
func newRig(t *testing.T, o demo.Options, adjust func(*config.Config)) *rig {
	t.Helper()
	o.Delay = time.Millisecond
	toys, err := demo.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{toys: toys, log: new(logtest.Buffer)}
	cfg := config.Default()
	cfg.Listen, cfg.Admin, cfg.DB = "127.0.0.1:0", "off", ":memory:"
	if adjust != nil {
		adjust(&cfg)
	}
	log, err := eventlog.New(r.log, "json", "info")
	if err != nil {
		t.Fatal(err)
	}
	r.daemon, err = daemon.OpenLists(t.Context(), cfg, daemon.Lists{Specs: toys.Specs()}, log)
	if err != nil {
		t.Fatal(err)
	}
	r.client = newClient(t, r.daemon.Addr().String(), toys.CAFile())
	r.run(t)
	return r
}

func (r *rig) run(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- r.daemon.Run(ctx) }()
	r.close = sync.OnceFunc(func() {
		r.client.CloseIdleConnections()
		cancel()
		if err := <-served; err != nil {
			t.Error("daemon:", err)
		}
		if err := r.toys.Close(); err != nil {
			t.Error("toys:", err)
		}
	})
	t.Cleanup(r.close)
}

// newClient trusts the authority in caFile and nothing else.
func newClient(t *testing.T, proxy, caFile string) *http.Client {
	t.Helper()
	authority, err := os.ReadFile(caFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		t.Fatal("no certificate in the file")
	}
	return &http.Client{Timeout: patience, Transport: &http.Transport{
		Proxy:           http.ProxyURL(&url.URL{Scheme: "http", Host: proxy}),
		TLSClientConfig: &tls.Config{RootCAs: roots},
	}}
}

// get returns the toy that answered.
func (r *rig) get(t *testing.T, target string) string {
	t.Helper()
	resp, err := r.client.Get(target)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d, %q, %v", resp.StatusCode, body, err)
	}
	return strings.TrimSpace(string(body))
}

// state is the breaker of a toy.
func (r *rig) state(t *testing.T, name string) breaker.State {
	t.Helper()
	for _, p := range r.daemon.Pool().Proxies() {
		if p.Spec.Name == name {
			return p.Breaker().Snapshot(time.Now()).State
		}
	}
	t.Fatalf("no proxy %s", name)
	return 0
}

// requestUntil sends requests until done likes the state of things.
func (r *rig) requestUntil(t *testing.T, what string, done func(answer string) bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if done(r.get(t, "http://swivel.test/")) {
			return
		}
	}
	t.Fatalf("not in %v: %s", patience, what)
}
