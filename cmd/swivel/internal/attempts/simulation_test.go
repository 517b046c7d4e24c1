package attempts

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"swivel/breaker"
	"swivel/pool"
	"swivel/pool/upstream"
)

// The shapes of pools and of traffic that people have, each run through the real
// loop, pool and breakers against scripted proxies in simulated time. They show
// what the rules together do: how many exchanges succeed, how many attempts are
// wasted, whether a good proxy is ever opened, and when the bad ones rest.

// answer is what a proxy does with one attempt: after a while it yields a tunnel
// (no signal) or fails; a tunnel then brings a first byte, or fails behind it.
type answer struct {
	after  time.Duration
	signal pool.Signal
	behind pool.Signal
}

// behaviour answers an attempt on a target at a time since the start.
type behaviour func(target string, at time.Duration) answer

func good(d time.Duration) behaviour {
	return func(string, time.Duration) answer { return answer{after: jitter(d)} }
}

func failing(s pool.Signal, d time.Duration) behaviour {
	return func(string, time.Duration) answer { return answer{after: d, signal: s} }
}

// jitter spreads a delay by a half either way.
func jitter(d time.Duration) time.Duration { return d/2 + time.Duration(rand.Float64()*float64(d)) }

var (
	refuses   = failing(pool.DialRefused, time.Millisecond)
	blackHole = failing(pool.HandshakeTimeout, 10*time.Second)
	answers5  = failing(pool.HandshakeGateway, 20*time.Millisecond)
)

// shape is one simulation.
type shape struct {
	proxies  []behaviour
	bad      func(i int) bool // who ought to rest; nil: nobody
	target   func(n int) string
	every    time.Duration // one exchange
	lasts    time.Duration
	rotating bool
}

// outcome is what came of it.
type outcome struct {
	exchanges, served, refused, wasted int
	wrongOpens                         int // openings of proxies that are not bad
	resting                            int // bad proxies that rest at the end
	bad                                int
	slowest                            time.Duration // of the served
	late, lateServed                   int           // exchanges of the last tenth of the time: when all is learnt

	// rested is how long it took until a half, nine tenths and all of the bad
	// ones rested at once; 0: they never did.
	rested [len(parts)]time.Duration
}

// parts are the shares of the bad proxies whose resting is timed.
var parts = [...]struct {
	name  string
	share float64
}{{"half", 0.5}, {"90 %", 0.9}, {"all", 1}}

func (o outcome) String() string {
	return fmt.Sprintf("%d exchanges: %.2f %% served (%.2f %% in the last tenth), %d refused at once, %.1f wasted attempts per 100, %d wrong opens, slowest %v; %s",
		o.exchanges, 100*o.share(), 100*o.lateShare(), o.refused, 100*float64(o.wasted)/float64(max(o.exchanges, 1)),
		o.wrongOpens, o.slowest.Round(time.Millisecond), o.rests())
}

func (o outcome) rests() string {
	if o.bad == 0 {
		return "none is bad"
	}
	words := []string{fmt.Sprintf("%d of %d bad ones rest in the end", o.resting, o.bad)}
	for i, part := range parts {
		if o.rested[i] > 0 {
			words = append(words, fmt.Sprintf("%s after %v", part.name, o.rested[i].Round(10*time.Millisecond)))
		}
	}
	return strings.Join(words, ", ")
}

func (o outcome) share() float64 { return float64(o.served) / float64(max(o.exchanges, 1)) }

func (o outcome) lateShare() float64 { return float64(o.lateServed) / float64(max(o.late, 1)) }

// restWithin says whether all bad ones rested at once by then.
func (o outcome) restWithin(limit time.Duration) bool {
	all := o.rested[len(parts)-1]
	return all > 0 && all <= limit
}

// simulate runs a shape.
func simulate(t *testing.T, s shape) (o outcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim := &simulation{shape: s, start: time.Now()}
		for i := range s.proxies {
			if sim.isBad(i) {
				sim.total.bad++
			}
		}
		specs := make([]*pool.Spec, len(s.proxies))
		for i := range specs {
			specs[i] = &pool.Spec{Host: fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), Port: uint16(1 + i%60_000), Weight: 1, Name: strconv.Itoa(i), Rotating: s.rotating}
		}
		p := pool.New(specs, pool.Options{Breaker: breaker.DefaultSettings(), Salt: []byte("salt")}, time.Now())
		sim.loop = New(p, Settings{
			Attempts: 5, ExchangeTimeout: 30 * time.Second, FirstByte: 10 * time.Second, Response: 2 * time.Minute,
			ProbePatience: 200 * time.Millisecond, RetryBudget: 0.2,
		}, sim.events)
		sim.run()
		sim.loop.Close()
		o = sim.total
	})
	t.Log(o)
	return o
}

type simulation struct {
	shape
	loop  *Loop
	start time.Time

	mu    sync.Mutex
	total outcome
}

func (s *simulation) isBad(i int) bool { return s.bad != nil && s.bad(i) }

// index is the proxy's place in the shape: the simulation numbers the specs.
func index(m *pool.Proxy) int {
	i, _ := strconv.Atoi(m.Spec.Name)
	return i
}

func (s *simulation) events(events []pool.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ev := range events {
		for t := range ev.Effect.Transitions {
			s.transition(t, s.isBad(index(ev.Proxy)))
		}
	}
}

func (s *simulation) transition(t breaker.Transition, bad bool) {
	switch opens := t.From == breaker.Closed; {
	case opens && !bad:
		s.total.wrongOpens++
	case opens:
		s.total.resting++
		for i, part := range parts {
			if s.total.rested[i] == 0 && float64(s.total.resting) >= part.share*float64(s.total.bad) {
				s.total.rested[i] = time.Since(s.start)
			}
		}
	case bad && t.To == breaker.Closed:
		s.total.resting--
	}
}

func (s *simulation) run() {
	var clients sync.WaitGroup
	for n := 0; time.Since(s.start) < s.lasts; n++ {
		target := "target.test:443"
		if s.target != nil {
			target = s.target(n)
		}
		clients.Go(func() { s.exchange(fmt.Sprint(n), target) })
		time.Sleep(s.every)
	}
	clients.Wait()
}

func (s *simulation) exchange(id, target string) {
	began := time.Now()
	x := s.loop.Begin(pool.Request{ID: id, Target: target})
	plan := Plan[pool.Signal]{
		Try:   func(_ context.Context, l *pool.Lease) (pool.Signal, error) { return s.attempt(l, target) },
		Late:  func(l *pool.Lease, _ pool.Signal) { x.Overtaken(l) },
		Probe: true, Hedge: true,
	}
	behind, lease, err := Run(context.Background(), x, plan)
	refused := err != nil && len(x.Attempts()) == 0
	for err == nil && behind != pool.NoSignal { // before its first byte a tunnel goes on elsewhere
		x.Fail(lease, pool.Fault{Signal: behind})
		lease.Release()
		plan.After = lease
		behind, lease, err = Run(context.Background(), x, plan)
	}
	served := err == nil
	if served {
		defer lease.Release()
		time.Sleep(5 * time.Millisecond)
		x.Reached(lease, pool.FirstByte, time.Since(began))
	}
	x.End()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total.exchanges++
	late := began.Sub(s.start) >= s.lasts-s.lasts/10
	if late {
		s.total.late++
	}
	if refused {
		s.total.refused++
	}
	if served {
		s.total.served++
		if late {
			s.total.lateServed++
		}
		s.total.slowest = max(s.total.slowest, time.Since(began))
	}
}

func (s *simulation) attempt(l *pool.Lease, target string) (pool.Signal, error) {
	a := s.proxies[index(l.Proxy)](target, time.Since(s.start))
	time.Sleep(a.after)
	if a.signal != pool.NoSignal || a.behind != pool.NoSignal {
		s.mu.Lock()
		s.total.wasted++
		s.mu.Unlock()
	}
	if a.signal != pool.NoSignal {
		return 0, &upstream.Error{Signal: a.signal}
	}
	return a.behind, nil
}
