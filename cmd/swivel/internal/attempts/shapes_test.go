package attempts

import (
	"context"
	"fmt"
	"math/rand/v2"
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
}

func (o outcome) String() string {
	return fmt.Sprintf("%d exchanges: %.2f %% served, %d refused at once, %.1f wasted attempts per 100, %d wrong opens, %d of %d bad ones rest, slowest %v",
		o.exchanges, 100*float64(o.served)/float64(max(o.exchanges, 1)), o.refused, 100*float64(o.wasted)/float64(max(o.exchanges, 1)),
		o.wrongOpens, o.resting, o.bad, o.slowest.Round(time.Millisecond))
}

func (o outcome) share() float64 { return float64(o.served) / float64(max(o.exchanges, 1)) }

// simulate runs a shape.
func simulate(t *testing.T, s shape) (o outcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim := &simulation{shape: s, start: time.Now()}
		specs := make([]pool.Spec, len(s.proxies))
		for i := range specs {
			specs[i] = pool.Spec{Host: fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), Port: uint16(1 + i%60_000), Weight: 1, MaxInFlight: i, Rotating: s.rotating}
		}
		p := pool.New(specs, pool.Options{Breaker: breaker.DefaultSettings(), Salt: []byte("salt")}, time.Now())
		sim.loop = New(p, Settings{
			Attempts: 5, ExchangeTimeout: 30 * time.Second, FirstByte: 10 * time.Second, Response: 2 * time.Minute,
			ProbePatience: 200 * time.Millisecond,
		}, sim.events)
		sim.run()
		sim.loop.Close()
		o = sim.tally()
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
func index(m *pool.Proxy) int { return m.Spec.MaxInFlight }

func (s *simulation) events(events []pool.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ev := range events {
		for t := range ev.Effect.Transitions {
			if t.To == breaker.Open && t.From == breaker.Closed && !s.isBad(index(ev.Proxy)) {
				s.total.wrongOpens++
			}
		}
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
	x := s.loop.Begin(id, target)
	behind, lease, err := Run(context.Background(), x, Plan[pool.Signal]{
		Try:   func(_ context.Context, l *pool.Lease) (pool.Signal, error) { return s.attempt(l, target) },
		Late:  func(l *pool.Lease, _ pool.Signal) { x.Overtaken(l) },
		Probe: true, Hedge: true,
	})
	refused := err != nil && len(x.Attempts()) == 0
	served := err == nil && behind == pool.NoSignal
	if err == nil {
		if served {
			time.Sleep(5 * time.Millisecond)
			x.Reached(lease, pool.FirstByte, time.Since(began))
		} else {
			x.Fail(lease, pool.Fault{Signal: behind})
		}
	}
	x.End()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total.exchanges++
	if refused {
		s.total.refused++
	}
	if served {
		s.total.served++
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

func (s *simulation) tally() outcome {
	o := s.total
	for i, m := range s.loop.Pool.Proxies() {
		if s.isBad(i) {
			o.bad++
			if m.Breaker().Resting() {
				o.resting++
			}
		}
	}
	return o
}

// times repeats a behaviour.
func times(n int, b behaviour) []behaviour {
	all := make([]behaviour, n)
	for i := range all {
		all[i] = b
	}
	return all
}

func join(groups ...[]behaviour) (all []behaviour) {
	for _, g := range groups {
		all = append(all, g...)
	}
	return all
}

func manyTargets(n int) string { return fmt.Sprintf("t%d.test:443", n%50) }

func TestShapeOneGoodProxy(t *testing.T) {
	o := simulate(t, shape{proxies: times(1, good(20*time.Millisecond)), target: manyTargets, every: 50 * time.Millisecond, lasts: 5 * time.Minute})
	if o.share() < 1 || o.wrongOpens > 0 {
		t.Error(o)
	}
}

func TestShapeOneRotatingGateway(t *testing.T) {
	// One exit in five is bad: a new connection finds another.
	gateway := func(string, time.Duration) answer {
		if rand.IntN(5) == 0 {
			return answer{after: 50 * time.Millisecond, signal: pool.HandshakeGateway}
		}
		return answer{after: jitter(30 * time.Millisecond)}
	}
	o := simulate(t, shape{proxies: []behaviour{gateway}, rotating: true, target: manyTargets, every: 50 * time.Millisecond, lasts: 5 * time.Minute})
	if o.share() < 0.995 || o.wrongOpens > 0 {
		t.Error(o)
	}
}

func TestShapeThreeProxiesOneDead(t *testing.T) {
	o := simulate(t, shape{proxies: join(times(2, good(20*time.Millisecond)), times(1, refuses)), bad: func(i int) bool { return i == 2 },
		target: manyTargets, every: 50 * time.Millisecond, lasts: 5 * time.Minute})
	if o.share() < 1 || o.wrongOpens > 0 || o.wasted > o.exchanges/100 {
		t.Error(o)
	}
}

func TestShapeMostOfALargePoolIsDead(t *testing.T) {
	const n = 10_000
	proxies := make([]behaviour, n)
	for i := range proxies {
		proxies[i] = refuses
		if i%10 == 0 {
			proxies[i] = good(20 * time.Millisecond)
		}
	}
	o := simulate(t, shape{proxies: proxies, bad: func(i int) bool { return i%10 != 0 },
		target: manyTargets, every: 2 * time.Millisecond, lasts: 4 * time.Minute})
	if o.share() < 0.8 || o.wrongOpens > 0 {
		t.Error(o)
	}
}

func TestShapeOneExchangeAMinute(t *testing.T) {
	o := simulate(t, shape{proxies: join(times(3, good(20*time.Millisecond)), times(1, refuses)), bad: func(i int) bool { return i == 3 },
		target: manyTargets, every: time.Minute, lasts: 5 * time.Hour})
	if o.share() < 1 || o.wrongOpens > 0 {
		t.Error(o)
	}
}

func TestShapeAThousandExchangesASecond(t *testing.T) {
	o := simulate(t, shape{proxies: join(times(18, good(20*time.Millisecond)), times(2, blackHole)), bad: func(i int) bool { return i >= 18 },
		target: manyTargets, every: time.Millisecond, lasts: 40 * time.Second})
	if o.share() < 1 || o.wrongOpens > 0 || o.wasted > o.exchanges/100 {
		t.Error(o)
	}
}

func TestShapeOneSingleTarget(t *testing.T) {
	o := simulate(t, shape{proxies: join(times(6, good(20*time.Millisecond)), times(2, answers5)), bad: func(i int) bool { return i >= 6 },
		every: 20 * time.Millisecond, lasts: 2 * time.Minute})
	if o.share() < 1 || o.wrongOpens > 0 || o.wasted > o.exchanges/100 {
		t.Error(o)
	}
}

// onTarget lets one target of the traffic behave by itself, through any proxy.
func onTarget(name string, b, others behaviour) behaviour {
	return func(target string, at time.Duration) answer {
		if target == name {
			return b(target, at)
		}
		return others(target, at)
	}
}

// oneInFive sends every fifth exchange to the name.
func oneInFive(name string) func(int) string {
	return func(n int) string {
		if n%5 == 0 {
			return name
		}
		return manyTargets(n)
	}
}

func TestShapeADeadTarget(t *testing.T) {
	b := onTarget("dead.test:443", answers5, good(20*time.Millisecond))
	o := simulate(t, shape{proxies: times(10, b), target: oneInFive("dead.test:443"), every: 20 * time.Millisecond, lasts: 5 * time.Minute})
	if o.wrongOpens > 0 || o.share() < 0.799 || float64(o.refused) < 0.19*float64(o.exchanges) {
		t.Error(o)
	}
}

func TestShapeATargetThatHangs(t *testing.T) {
	b := onTarget("hangs.test:443", blackHole, good(20*time.Millisecond))
	o := simulate(t, shape{proxies: times(10, b), target: oneInFive("hangs.test:443"), every: 20 * time.Millisecond, lasts: 5 * time.Minute})
	if o.wrongOpens > 0 || o.share() < 0.79 {
		t.Error(o)
	}
}

func TestShapeATargetThatResetsConnections(t *testing.T) {
	resets := func(string, time.Duration) answer {
		a := answer{after: jitter(20 * time.Millisecond)}
		if rand.IntN(10) < 4 {
			a.signal = pool.HandshakeClosed
		}
		return a
	}
	b := onTarget("resets.test:443", resets, good(20*time.Millisecond))
	o := simulate(t, shape{proxies: times(10, b), target: oneInFive("resets.test:443"), every: 20 * time.Millisecond, lasts: 10 * time.Minute})
	if o.wrongOpens > 0 || o.share() < 0.97 {
		t.Error(o)
	}
}

func TestShapeAllProxiesDieAtOnceAndComeBack(t *testing.T) {
	b := func(target string, at time.Duration) answer {
		if at > time.Minute && at < time.Minute+40*time.Second {
			return answer{after: 5 * time.Second, signal: pool.DialTimeout}
		}
		return good(20*time.Millisecond)(target, at)
	}
	o := simulate(t, shape{proxies: times(10, b), target: manyTargets, every: 50 * time.Millisecond, lasts: 3 * time.Minute})
	if o.wrongOpens > 0 {
		t.Error("a network that was down for 40 s opened good proxies:", o)
	}
	if o.share() < 0.74 { // 40 of 180 seconds are lost, and one or two until it is noticed
		t.Error("the pool did not come back with the network:", o)
	}
}

func TestShapeEveryHandshakeTakesThreeSeconds(t *testing.T) {
	o := simulate(t, shape{proxies: times(10, good(3*time.Second)), target: manyTargets, every: 100 * time.Millisecond, lasts: 3 * time.Minute})
	if o.share() < 1 || o.wrongOpens > 0 {
		t.Error(o)
	}
}

func TestShapeAFlakyThirdOfThePool(t *testing.T) {
	half := func(string, time.Duration) answer {
		a := answer{after: jitter(20 * time.Millisecond)}
		if rand.IntN(2) == 0 {
			a.behind = pool.TunnelClosed
		}
		return a
	}
	o := simulate(t, shape{proxies: join(times(6, good(20*time.Millisecond)), times(3, half)), bad: func(i int) bool { return i >= 6 },
		target: manyTargets, every: 20 * time.Millisecond, lasts: 5 * time.Minute})
	if o.wrongOpens > 0 || o.share() < 0.96 { // what fails behind the 200 cannot be repeated
		t.Error(o)
	}
}
