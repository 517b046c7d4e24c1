package canary

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/attempts"
	"swivel/cmd/swivel/internal/eventlog"
	"swivel/cmd/swivel/internal/tryout"
	"swivel/pool"
	"swivel/pool/route"
	"swivel/pool/upstream"
)

// rest is how long the proxies rest that refuse.
const rest = 30 * time.Second

// rig is a canary over a pool, and the script of what the proxies do.
type rig struct {
	t    *testing.T
	loop *attempts.Loop
	pool *pool.Pool
	log  strings.Builder
	*Canary

	mu    sync.Mutex
	asked map[uint16]int // by port
	// script is what comes of asking, now.
	script func(ctx context.Context, p *pool.Spec) (tryout.Answer, error)
}

// newRig is for the inside of a bubble. The first resting proxies of n rest.
func newRig(t *testing.T, n, resting int) *rig {
	t.Helper()
	var specs []*pool.Spec
	for i := range n {
		more, err := pool.ParseLine(fmt.Sprintf("127.0.0.1:%d", 1000+i), nil)
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, more...)
	}
	s := breaker.DefaultSettings()
	s.Jitter, s.RefusedTimeout = 0, rest
	r := &rig{t: t, asked: map[uint16]int{}, pool: pool.New(specs, pool.Options{Breaker: s, Salt: []byte("salt")}, time.Now())}
	r.loop = attempts.New(r.pool, attempts.Settings{Attempts: n, ExchangeTimeout: time.Minute, FirstByte: 10 * time.Second, Response: time.Minute}, func([]pool.Event) {})
	target, err := tryout.ParseTarget("https://canary.test/")
	if err != nil {
		t.Fatal(err)
	}
	log, err := eventlog.New(io.Writer(&r.log), "json", "debug")
	if err != nil {
		t.Fatal(err)
	}
	r.Canary = New(r.loop, nil, target, log)
	r.ask = func(ctx context.Context, p *pool.Spec) (tryout.Answer, error) {
		r.mu.Lock()
		r.asked[p.Port]++
		script := r.script
		r.mu.Unlock()
		return script(ctx, p)
	}
	r.plays(answers(200))
	r.refuse(resting)
	return r
}

// refuse has the first n proxies say 407 to a client, so that they rest.
func (r *rig) refuse(n int) {
	for _, m := range r.pool.Proxies()[:n] {
		r.client(m, &upstream.Error{Signal: pool.HandshakeAuth})
	}
}

// client makes a request through one proxy, or any if it is nil, and says whether
// it tested one.
func (r *rig) client(m *pool.Proxy, err error) (probed bool) {
	request := pool.Request{ID: "client", Target: "a.test:443"}
	if m != nil {
		request.Route = route.Route{Proxy: string(m.ID)}
	}
	x := r.loop.Begin(request)
	_, lease, _ := attempts.Run(context.Background(), x, attempts.Plan[int]{
		Try:   func(context.Context, *pool.Lease) (int, error) { return 0, err },
		Late:  func(l *pool.Lease, _ int) { x.Unused(l) },
		Probe: true,
	})
	if err == nil {
		x.Reached(lease, pool.FirstByte, 0)
	}
	x.End()
	return x.Attempts()[0].Probe
}

func (r *rig) plays(script func(context.Context, *pool.Spec) (tryout.Answer, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.script = script
}

func answers(status int) func(context.Context, *pool.Spec) (tryout.Answer, error) {
	return func(context.Context, *pool.Spec) (tryout.Answer, error) {
		time.Sleep(20 * time.Millisecond)
		return tryout.Answer{Status: status, FirstByte: 10 * time.Millisecond}, nil
	}
}

func fails(s pool.Signal) func(context.Context, *pool.Spec) (tryout.Answer, error) {
	return func(context.Context, *pool.Spec) (tryout.Answer, error) {
		time.Sleep(20 * time.Millisecond)
		return tryout.Answer{}, &upstream.Error{Signal: s, Err: errors.New("as the script says")}
	}
}

// run has the canary go on for some time, and ends it.
func (r *rig) run(d time.Duration) {
	ctx, cancel := context.WithTimeout(r.t.Context(), d)
	defer cancel()
	r.Run(ctx)
	r.loop.Close()
}

func (r *rig) states() (all string) {
	for _, m := range r.pool.Proxies() {
		all += m.Breaker().State(time.Now()).String() + " "
	}
	return strings.TrimSpace(all)
}

func TestProxiesComeBackWithoutAnyTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 3, 2)
		r.run(rest + 5*time.Second)
		if r.asked[1000] != 2 || r.asked[1001] != 2 || r.asked[1002] != 0 || r.states() != "closed closed closed" {
			t.Errorf("asked %v, now %s: want two probes of those that rested, and none of the other", r.asked, r.states())
		}
		if got := r.pool.SettledCanaries()[pool.Response][breaker.Success]; got != 4 {
			t.Errorf("%d are counted", got)
		}
		if n := strings.Count(r.log.String(), `"level":"debug","request":"canary-`); n < 2 || strings.Count(r.log.String(), `"probe":true`) != 4 {
			t.Errorf("the log: %s", r.log.String())
		}
	})
}

func TestProxiesThatStillFailRestOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2, 1)
		r.plays(fails(pool.DialRefused))
		r.run(10 * time.Minute)
		if n := r.asked[1000]; n < 4 || n > 6 { // after 30 s, then 30 s, a minute, two and four
			t.Errorf("asked %d times in ten minutes", n)
		}
	})
}

func TestACanaryThatIsDownBlamesNobodyAndLetsClientsTest(t *testing.T) {
	for name, script := range map[string]func(context.Context, *pool.Spec) (tryout.Answer, error){
		"silent": fails(pool.TunnelSilent), "no such name": fails(pool.TargetNamed), "overloaded": answers(503),
		"wrong certificate": func(context.Context, *pool.Spec) (tryout.Answer, error) {
			return tryout.Answer{}, errors.New("wrong certificate")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, 12, 10)
				r.plays(script)
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() { r.Run(ctx); close(ended) }()
				time.Sleep(rest + 10*time.Second)
				for i, m := range r.pool.Proxies() {
					if left := m.Breaker().RetryAfter(time.Now()); left > rest {
						t.Errorf("proxy %d rests for another %v: it is blamed", i, left)
					}
				}
				r.mu.Lock()
				before := len(r.asked)
				r.mu.Unlock()
				probed := false
				for range 100 { // those that were asked in vain rest again, at worst all
					time.Sleep(time.Second)
					probed = r.client(nil, nil) || probed
				}
				if !probed {
					t.Errorf("after %d proxies have been asked in vain no client tests one", before)
				}
				r.plays(answers(404))
				time.Sleep(3 * time.Minute)
				for range 100 {
					if r.client(nil, nil) {
						t.Error("a client tests a proxy although the canary is up again")
					}
				}
				if r.states() != strings.TrimSpace(strings.Repeat("closed ", 12)) {
					t.Error(r.states())
				}
				cancel()
				<-ended
				r.loop.Close()
			})
		})
	}
}

func TestProxiesThatSaySoLittleDoNotMakeADoubtOfACanaryThatOthersReach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 10, 9)
		r.plays(func(ctx context.Context, p *pool.Spec) (tryout.Answer, error) {
			if p.Port == 1000 {
				return answers(200)(ctx, p)
			}
			time.Sleep(10 * time.Second)
			return fails(pool.HandshakeTimeout)(ctx, p)
		})
		r.run(rest + 15*time.Second)
		if strings.Contains(r.log.String(), "may be down") || len(r.asked) != 9 {
			t.Errorf("asked %v: %s", r.asked, r.log.String())
		}
	})
}

func TestManyThatAreDueAreTestedAtTheRateOfProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 200, 200)
		time.Sleep(rest)
		r.run(10 * time.Second)
		asked := 0
		for _, n := range r.asked {
			asked += n
		}
		if asked < 40 || asked > 80 { // 7 a second; what a pause of more than one leaves is lost
			t.Errorf("%d tests in ten seconds", asked)
		}
	})
}

func TestTheEndOfTheCanaryIsNobodysFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 2, 1)
		r.plays(func(ctx context.Context, _ *pool.Spec) (tryout.Answer, error) {
			<-ctx.Done()
			return tryout.Answer{}, &upstream.Error{Signal: pool.TunnelSilent}
		})
		r.run(rest + 5*time.Second)
		if got := r.pool.SettledCanaries()[pool.LocalFault][breaker.Ignored]; got != 1 || r.asked[1000] != 1 {
			t.Errorf("%d are ignored, asked %v", got, r.asked)
		}
	})
}
