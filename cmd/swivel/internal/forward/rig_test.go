package forward_test

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/attempts"
	"swivel/cmd/swivel/internal/eventlog"
	"swivel/cmd/swivel/internal/forward"
	"swivel/cmd/swivel/internal/front"
	"swivel/cmd/swivel/internal/tunnel"
	"swivel/pool"
	"swivel/pool/upstream"
	"swivel/pool/upstream/leaktest"
)

// patience is how long a test waits for what must happen; it is only ever used
// up by a test that fails.
const patience = 20 * time.Second

// limits are what a test may want shorter than patience.
type limits struct {
	exchange, handshake, response time.Duration
	overtake                      time.Duration // what an answer may take before another proxy is asked, too
	bans, retries                 []int
	probe, probeBody              time.Duration // ProbePatience, and for the body
	due                           bool          // the first proxy rests, and is to be tested
}

// rig is a front with its pool, as the daemon builds it.
type rig struct {
	t     testing.TB
	addr  string
	pool  *pool.Pool
	lines chan []byte // of the log, one for each exchange
}

// newRig serves over the given proxies until the test ends, and checks that
// nothing is left behind then. The test's servers are still up at that moment,
// so that it is seen whether all connections to them were closed.
func newRig(t testing.TB, l limits, specs ...*pool.Spec) *rig {
	t.Helper()
	leaktest.Watch(t)
	r := &rig{t: t, lines: make(chan []byte, 1000)}
	for i := range specs {
		specs[i].Weight = 1
	}
	options := pool.Options{Breaker: breaker.DefaultSettings(), Salt: []byte("salt"), ProbeRate: 1e6}
	if l.due {
		options.Breaker.ProbeSuccesses = 1
		options.Restore = firstIsDue()
	}
	r.pool = pool.New(specs, options, time.Now())
	log, err := eventlog.New(r, "json", "info")
	if err != nil {
		t.Fatal(err)
	}
	dialer := upstream.NewDialer(upstream.Timeouts{Dial: patience, Handshake: or(l.handshake, patience)})
	response := or(l.response, patience)
	loop := attempts.New(r.pool, attempts.Settings{
		Attempts: 5, ExchangeTimeout: or(l.exchange, patience), FirstByte: or(l.overtake, patience), Response: response,
		ProbePatience: or(l.probe, patience), HedgeOff: l.overtake == 0,
	}, func([]pool.Event) {})
	t.Cleanup(loop.Close)
	registry := tunnel.NewRegistry(0, nil)
	transports := upstream.NewTransports(dialer, response)
	f := &front.Front{
		Settings: front.Settings{HeaderBytes: 256 << 10, HeaderTimeout: patience, KeepAlive: patience},
		Loop:     loop,
		Tunnel:   &tunnel.Server{Loop: loop, Dialer: dialer, Registry: registry},
		Forward:  forward.New(transports, registry, forward.Settings{Response: response, Bans: l.bans, Retries: l.retries, ProbeBody: or(l.probeBody, patience)}),
		Log:      log,
		TLS:      clientTLS,
	}
	ln, err := front.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.addr = ln.Addr().String()
	served := make(chan error, 1)
	go func() { served <- f.Serve(ln) }()
	t.Cleanup(func() {
		_ = ln.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
		f.Shutdown(expired(t))
		transports.Keep(func(pool.ID) bool { return false })
	})
	return r
}

func or(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

// Write takes the lines of the log.
func (r *rig) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(`"message":"exchange"`)) {
		select {
		case r.lines <- bytes.Clone(line):
		default: // a benchmark reads none
		}
	}
	return len(line), nil
}

// logged is the log line of an exchange.
type logged struct {
	Status   int
	Code     string
	Up, Down int64
	Attempts []struct{ Proxy, Signal, Outcome string }
}

// exchange waits for the end of the next exchange.
func (r *rig) exchange() logged {
	r.t.Helper()
	select {
	case line := <-r.lines:
		var x logged
		if err := json.Unmarshal(line, &x); err != nil {
			r.t.Fatal(err)
		}
		return x
	case <-time.After(patience):
		r.t.Fatal("the exchange does not end")
		return logged{}
	}
}

// verdicts waits for the end of the next exchange and returns what was said of
// its proxies: "signal outcome" for each attempt.
func (r *rig) verdicts() string {
	r.t.Helper()
	var all []string
	for _, a := range r.exchange().Attempts {
		all = append(all, a.Signal+" "+a.Outcome)
	}
	return strings.Join(all, ", ")
}

// state is what the breaker of the n-th proxy is in.
func (r *rig) state(n int) breaker.State { return r.pool.Proxies()[n].Breaker().State(time.Now()) }

// spec describes a proxy at addr.
func spec(scheme pool.Scheme, addr netip.AddrPort) *pool.Spec {
	return &pool.Spec{Scheme: scheme, Host: addr.Addr().String(), Port: addr.Port()}
}
