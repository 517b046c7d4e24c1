package admin

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/feed"
	"swivel/cmd/swivel/internal/fleet"
	"swivel/cmd/swivel/internal/traffic"
	"swivel/pool"
	"swivel/pool/route"
	"swivel/storage"
)

// operator does at once what the API asks for, or fails.
type operator struct {
	stopping atomic.Bool
	pool     *pool.Pool
	traffic  *traffic.Recorder
	feed     *feed.Feed

	mu    sync.Mutex
	fails error

	auditFails error
	deeds      []storage.Deed
	calls      []string
}

func (o *operator) Pool() *pool.Pool { return o.pool }

func (o *operator) Status() Status {
	return Status{Started: time.Now(), Connections: 3, ConnectionsLimit: 100, RetryBudget: 500, ErrorRatio: 0.4}
}

func (o *operator) Fleet() (fleet.Status, bool) {
	return fleet.Status{Up: true, Instances: 3, Answered: time.Now(), Leases: 2}, true
}

func (o *operator) Feed() *feed.Feed { return o.feed }

func (o *operator) Traffic() *traffic.Recorder { return o.traffic }

func (o *operator) Metrics() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "swivel_connections 3\n") })
}

func (o *operator) Pause(members []*pool.Proxy, why pool.Pause) error {
	if err := o.called("pause " + why.Reason); err != nil {
		return err
	}
	o.pool.Pause(members, why)
	return nil
}

func (o *operator) Resume(members []*pool.Proxy, _ string) error {
	if err := o.called("resume"); err != nil {
		return err
	}
	o.pool.Resume(members)
	return nil
}

func (o *operator) Report(r pool.Report) (time.Time, bool) {
	until, counts, _ := o.pool.Report(r, time.Now())
	return until, counts
}

func (o *operator) Reload() (Reloaded, error) { return Reloaded{Added: 1, Kept: 2}, o.called("reload") }

func (o *operator) Audit(d storage.Deed) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.deeds = append(o.deeds, d)
	return o.auditFails
}

func (o *operator) Deeds(limit int) ([]storage.Deed, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.deeds[max(0, len(o.deeds)-limit):], o.auditFails
}

func (o *operator) called(what string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls = append(o.calls, what)
	return o.fails
}

// took returns what the operator was asked to do.
func (o *operator) took() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.calls)
}

// rig is a server over a pool of the given list lines.
type rig struct {
	*operator
	base string // URL
}

func newRig(t *testing.T, lines ...string) *rig {
	t.Helper()
	return newRigWith(t, "", lines...)
}

// newRigWith is newRig with a token.
func newRigWith(t *testing.T, token pool.Secret, lines ...string) *rig {
	t.Helper()
	list, err := pool.ParseList(strings.NewReader(strings.Join(lines, "\n")+"\n"), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{operator: &operator{pool: pool.New(list.Specs, pool.Options{Salt: []byte("salt")}, time.Now()), traffic: traffic.New(time.Now()), feed: feed.New(time.Now())}}
	s, err := Listen(t.Context(), "127.0.0.1:0", token)
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { s.Serve(r.operator) })
	t.Cleanup(func() { s.Close(); serving.Wait() })
	r.base = "http://" + s.Addr().String()
	return r
}

// member returns the proxy with the name.
func (r *rig) member(t *testing.T, name string) *pool.Proxy {
	t.Helper()
	for _, m := range r.pool.Proxies() {
		if m.Spec.Name == name {
			return m
		}
	}
	t.Fatalf("no proxy %s", name)
	return nil
}

// refused opens the breaker of the proxy.
func (r *rig) refused(t *testing.T, name string) {
	t.Helper()
	r.outcome(t, name, breaker.Refused)
}

// outcome is what an attempt says about the proxy.
func (r *rig) outcome(t *testing.T, name string, o breaker.Outcome) {
	t.Helper()
	b, now := r.member(t, name).Breaker(), time.Now()
	permit, _, ok := b.Acquire(now, time.Minute)
	if !ok {
		t.Fatal("not granted")
	}
	b.Report(permit, breaker.Verdict{Outcome: o}, now)
}

// ask makes a request as JSON, changed by alter.
func (r *rig) ask(t *testing.T, method, path, body string, alter func(*http.Request)) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, r.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if alter != nil {
		alter(request)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if method != http.MethodHead {
		checkDescribed(t, method, path, response, got)
	}
	return response.StatusCode, string(got)
}

// proxies asks for the pool, by name.
func (r *rig) proxies(t *testing.T) map[string]map[string]any {
	t.Helper()
	status, text := r.ask(t, "GET", "/api/v1/proxies", "", nil)
	var all []map[string]any
	if err := json.Unmarshal([]byte(text), &all); err != nil || status != 200 {
		t.Fatalf("%d %s: %v", status, text, err)
	}
	byName := map[string]map[string]any{}
	for _, p := range all {
		byName[p["name"].(string)] = p
	}
	return byName
}

// WrongToken implements Operator.
func (o *operator) WrongToken(string) { _ = o.called("wrong token") }

// Stopping implements Operator.
func (o *operator) Stopping() bool { return o.stopping.Load() }

// ParseUser implements Operator.
func (o *operator) Refused(target string) string {
	if target == "denied.test:443" {
		return "403 target_denied"
	}
	return ""
}

func (o *operator) ParseUser(user string) (string, route.Route, error) { return route.Parse(user, nil) }
