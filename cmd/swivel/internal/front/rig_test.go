package front

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/attempts"
	"swivel/cmd/swivel/internal/auth"
	"swivel/cmd/swivel/internal/eventlog"
	"swivel/cmd/swivel/internal/eventlog/logtest"
	"swivel/cmd/swivel/internal/forward"
	"swivel/cmd/swivel/internal/limit"
	"swivel/cmd/swivel/internal/swiveltest"
	"swivel/cmd/swivel/internal/tunnel"
	"swivel/pool"
	"swivel/pool/upstream"
	"swivel/pool/upstream/leaktest"
)

// patience bounds every wait of these tests: what takes longer is stuck.
const patience = 20 * time.Second

// rig is a front on a loopback port, with a pool of scripted proxies behind
// it. When its test ends it checks that nothing is left over.
type rig struct {
	t        testing.TB
	front    *Front
	pool     *pool.Pool
	registry *tunnel.Registry
	addr     string
	log      logBuffer

	// What a test may change before start.
	settings Settings
	attempts attempts.Settings
	timeouts upstream.Timeouts
	shun     func(netip.AddrPort) bool // what must not be connected without a proxy
	options  pool.Options
	idle     time.Duration // of tunnels
	users    []string      // name:password
	rate     float64       // of a client's exchanges
	most     int           // of a client's connections
	tls      *tls.Config   // to speak with clients

	closers []func() // run in reverse order
	stop    func()   // accepts no more
}

func newRig(t testing.TB) *rig {
	r := &rig{
		t:        t,
		settings: Settings{HeaderBytes: 64 << 10, HeaderTimeout: patience, KeepAlive: patience},
		attempts: attempts.Settings{Attempts: 5, ExchangeTimeout: patience, FirstByte: patience, Response: patience,
			ProbePatience: patience, HedgeOff: true},
		timeouts: upstream.Timeouts{Dial: patience, Handshake: patience},
		options:  pool.Options{ProbeRate: 1e6, Salt: []byte("salt"), Breaker: breaker.DefaultSettings()},
		tls:      clientTLS,
	}
	leaktest.Watch(t)
	t.Cleanup(func() {
		for i := len(r.closers) - 1; i >= 0; i-- {
			r.closers[i]()
		}
		r.checkSettled()
	})
	return r
}

// start serves a pool of the given list lines.
func (r *rig) start(lines ...string) {
	r.t.Helper()
	list, err := pool.ParseList(strings.NewReader(strings.Join(lines, "\n")+"\n"), os.LookupEnv)
	if err != nil {
		r.t.Fatal(err)
	}
	log, err := eventlog.New(&r.log, "json", "info")
	if err != nil {
		r.t.Fatal(err)
	}
	r.pool = pool.New(list.Specs, r.options, time.Now())
	ln, err := Listen(context.Background(), "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.addr = ln.Addr().String()
	loop := attempts.New(r.pool, r.attempts, func(events []pool.Event) {
		for _, ev := range events {
			log.Transitions(ev)
		}
	})
	dialer := upstream.NewDialer(r.timeouts)
	dialer.Shun = r.shun
	r.registry = tunnel.NewRegistry(r.idle, &loop.Workers)
	transports := upstream.NewTransports(dialer, r.attempts.Response)
	r.front = &Front{
		Settings: r.settings, Loop: loop, Log: log,
		Tunnel:  &tunnel.Server{Loop: loop, Dialer: dialer, Registry: r.registry},
		Forward: forward.New(transports, r.registry, forward.Settings{Response: r.attempts.Response, ProbeBody: r.attempts.FirstByte}),
		Guard:   r.guard(), Rate: limit.NewRate(r.rate), PerClient: limit.NewConnections(r.most), TLS: r.tls,
	}
	served := make(chan error, 1)
	go func() { served <- r.front.Serve(ln) }()
	r.stop = sync.OnceFunc(func() {
		_ = ln.Close()
		if err := <-served; err != nil {
			r.t.Errorf("Serve ended with %v", err)
		}
	})
	r.closers = append(r.closers, func() {
		r.shutdown(2 * time.Second)
		loop.Close()
		for _, m := range r.pool.Proxies() {
			if n := m.InFlight(); n != 0 {
				r.t.Errorf("%s has %d in flight when all is over", m.Spec.Label(), n)
			}
		}
		transports.Keep(func(pool.ID) bool { return false })
	})
}

// guard lets the users of the test in.
func (r *rig) guard() *auth.Guard {
	r.t.Helper()
	var entries []string
	for _, user := range r.users {
		name, password, _ := strings.Cut(user, ":")
		hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
		if err != nil {
			r.t.Fatal(err)
		}
		entries = append(entries, name+":"+string(hash))
	}
	users, err := auth.Read(entries, "")
	if err != nil {
		r.t.Fatal(err)
	}
	return auth.NewGuard(users)
}

// shutdown stops the front and returns how many connections it had to cut.
func (r *rig) shutdown(grace time.Duration) int {
	r.stop()
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return r.front.Shutdown(ctx)
}

// sweep ends idle tunnels until the test does.
func (r *rig) sweep() {
	ctx, cancel := context.WithCancel(context.Background())
	go r.registry.Sweep(ctx)
	r.closers = append(r.closers, cancel)
}

// snapshot is the breaker of the n-th proxy.
func (r *rig) snapshot(n int) breaker.Snapshot {
	return r.pool.Proxies()[n].Breaker().Snapshot(time.Now())
}

// untouched says whether nothing was held against the n-th proxy.
func (r *rig) untouched(n int) bool {
	s := r.snapshot(n)
	return s.State == breaker.Closed && len(s.Failures) == 0 && s.Suspicions == 0
}

// due makes every proxy begin with a rest that is just over: the first attempt
// is a probe.
func (r *rig) due() {
	r.options.Restore = func(pool.ID) (breaker.Snapshot, bool) {
		past := time.Now().Add(-time.Minute)
		return breaker.Snapshot{State: breaker.Open, Generation: 2, OpensInRow: 1, Rule: breaker.RuleRun,
			NextTest: past, LastChange: past}, true
	}
}

// onlyFirst lets due apply to the first proxy of the pool alone.
func (r *rig) onlyFirst() {
	restore, first := r.options.Restore, true
	r.options.Restore = func(id pool.ID) (breaker.Snapshot, bool) {
		defer func() { first = false }()
		if !first {
			return breaker.Snapshot{}, false
		}
		return restore(id)
	}
}

// checkSettled wants every attempt to have reported. A probe that is out shows
// as a half-open breaker that has long to wait.
func (r *rig) checkSettled() {
	if r.pool == nil {
		return
	}
	for i, p := range r.pool.Proxies() {
		now := time.Now()
		if p.Breaker().State(now) == breaker.HalfOpen && p.Breaker().RetryAfter(now) > 2*time.Second {
			r.t.Errorf("proxy %d: a probe was never settled", i)
		}
	}
	for _, x := range r.exchanges() {
		for i, a := range x.Attempts {
			if a.Signal == "none" && x.Code != "timeout" { // the exchange's time may end before an attempt's
				r.t.Errorf("attempt %d of exchange %s was never settled", i, x.Request)
			}
		}
	}
}

// exchangeLine is the log line of an exchange.
type exchangeLine struct {
	Request, Kind, Target, Proxy, Code, Reason, Message string
	User, Session                                       string
	Status                                              int
	Up, Down                                            int64
	Took                                                float64 `json:"took_ms"`
	Attempts                                            []struct{ Proxy, Signal, Outcome, Error string }
}

// signals are what the attempts of an exchange ran into, in order.
func (x exchangeLine) signals() string {
	var s []string
	for _, a := range x.Attempts {
		s = append(s, a.Signal+"/"+a.Outcome)
	}
	return strings.Join(s, " ")
}

// exchanges are the exchanges logged so far.
func (r *rig) exchanges() (all []exchangeLine) {
	for line := range strings.Lines(r.log.String()) {
		var x exchangeLine
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			r.t.Errorf("the log line is not JSON: %v: %s", err, line)
		}
		if x.Message == "exchange" {
			all = append(all, x)
		}
	}
	return all
}

// logged waits until n exchanges were logged and returns the last of them.
func (r *rig) logged(n int) exchangeLine {
	r.t.Helper()
	eventually(r.t, fmt.Sprintf("%d exchanges in the log", n), func() bool { return len(r.exchanges()) >= n })
	return r.exchanges()[n-1]
}

// logBuffer is a log that is read while it is written.
type logBuffer struct {
	logtest.Buffer
	discard bool // for benchmarks; set before anything is written
}

func (l *logBuffer) Write(p []byte) (int, error) {
	if l.discard {
		return len(p), nil
	}
	return l.Buffer.Write(p)
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	swiveltest.Eventually(t, patience, what, ok)
}
