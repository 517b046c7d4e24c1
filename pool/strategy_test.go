package pool

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"swivel/breaker"
)

// newStrategyPool is newTestPool with another strategy.
func newStrategyPool(specs []*Spec, strategy Strategy) *Pool {
	return New(specs, Options{Breaker: breaker.DefaultSettings(), Salt: []byte("salt"), ProbeRate: 1000, Strategy: strategy}, epoch)
}

// sharesOf makes picks that are reported and released at once.
func sharesOf(t *testing.T, p *Pool, picks int) []float64 {
	t.Helper()
	counts := count(t, p, picks, 1, epoch)
	shares := make([]float64, len(p.Proxies()))
	for i, m := range p.Proxies() {
		shares[i] = float64(counts[m.ID]) / float64(picks)
	}
	return shares
}

func TestEveryStrategyFollowsTheWeightsOfEqualProxies(t *testing.T) {
	for _, strategy := range []Strategy{Weighted, RoundRobin, LeastInFlight, Fastest} {
		t.Run(strategy.String(), func(t *testing.T) {
			p := newStrategyPool(weighted(1, 3, 6), strategy)
			checkShares(t, p, count(t, p, 20_000, 1, epoch), 20_000, 0.1, 0.3, 0.6)
		})
	}
}

func TestEveryStrategyKeepsTheSharesWhileMembersAreOut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		weights := rapid.SliceOfN(rapid.IntRange(1, 9), 2, 12).Draw(rt, "weights")
		strategy := rapid.SampledFrom([]Strategy{Weighted, RoundRobin, LeastInFlight, Fastest}).Draw(rt, "strategy")
		specs := weighted(make([]float64, len(weights))...)
		for i, w := range weights {
			specs[i].Weight = float64(w)
		}
		p := newStrategyPool(specs, strategy)
		total := 0.0
		out := make([]bool, len(weights))
		for i, w := range weights {
			if out[i] = i > 0 && rapid.Bool().Draw(rt, "out"); out[i] {
				p.Pause(p.Proxies()[i:i+1], Pause{Reason: "out"})
			} else {
				total += float64(w)
			}
		}
		const picks = 5000
		for i, share := range sharesOf(t, p, picks) {
			want := float64(weights[i]) / total
			if out[i] {
				want = 0
			}
			if math.Abs(share-want) > 0.05 {
				rt.Fatalf("%v, weights %v, out %v: member %d got %.3f, want %.3f", strategy, weights, out, i, share, want)
			}
		}
	})
}

func TestRoundRobinServesEveryoneOnceARound(t *testing.T) {
	p := newStrategyPool(weighted(1, 1, 1, 1, 1), RoundRobin)
	for round := range 20 {
		seen := map[ID]bool{}
		for range 5 {
			m, err := serve(p, epoch)
			if err != nil {
				t.Fatal(err)
			}
			seen[m.ID] = true
		}
		if len(seen) != 5 {
			t.Fatalf("round %d served %d of 5", round, len(seen))
		}
	}
}

func TestRoundRobinTakesAReturnedMemberBackWithoutABurst(t *testing.T) {
	p := newStrategyPool(weighted(1, 1), RoundRobin)
	away := p.Proxies()[1:2]
	p.Pause(away, Pause{Reason: "away"})
	for range 100 {
		_, _ = serve(p, epoch)
	}
	p.Resume(away)
	counts := count(t, p, 100, 1, epoch)
	if n := counts[away[0].ID]; n < 49 || n > 51 {
		t.Errorf("the member that came back got %d of 100, want its half", n)
	}
}

func TestRoundRobinPassesOverWhatAnExchangeHasTried(t *testing.T) {
	p := newStrategyPool(weighted(1, 1, 1), RoundRobin)
	x := begin(t, p, "target.test:443", epoch)
	for range 3 {
		x.Fail(next(t, x, epoch), Fault{Signal: DialRefused}, epoch)
	}
	if _, _, ok := x.Next(epoch, leaseTime, true); ok {
		t.Error("a fourth attempt in a pool of three")
	}
}

func TestLeastInFlightPrefersTheIdleProxy(t *testing.T) {
	p := newStrategyPool(weighted(1, 1), LeastInFlight)
	busy, idle := p.Proxies()[0], p.Proxies()[1]
	busy.inFlight.Add(50)
	counts := count(t, p, 4000, 1, epoch)
	if share := float64(counts[idle.ID]) / 4000; math.Abs(share-0.75) > 0.05 {
		t.Errorf("the idle one of two got %.2f, want 3/4: all but the draws that met the busy one twice", share)
	}
}

func TestFastestPrefersTheQuickProxyAndStillLooksAtTheOther(t *testing.T) {
	p := newStrategyPool(weighted(1, 1), Fastest)
	p.Proxies()[0].firstByte.add(time.Second)
	p.Proxies()[1].firstByte.add(10 * time.Millisecond)
	shares := sharesOf(t, p, 4000)
	if math.Abs(shares[0]-0.25) > 0.05 {
		t.Errorf("the slow one of two got %.2f, want 1/4", shares[0])
	}
}

func TestFastestLearnsFromPlainResponsesToo(t *testing.T) {
	p := newStrategyPool(weighted(1, 1), Fastest)
	for i, took := range []time.Duration{time.Second, 10 * time.Millisecond} {
		(&Lease{Proxy: p.Proxies()[i]}).Answered(took)
	}
	if shares := sharesOf(t, p, 4000); math.Abs(shares[0]-0.25) > 0.05 {
		t.Errorf("the slow one of two got %.2f, want 1/4", shares[0])
	}
}

func TestAverageFollowsTheLatestTimes(t *testing.T) {
	var e ewma
	if e.seconds() != 0 {
		t.Error("an average of nothing")
	}
	e.add(time.Second)
	for range 10 {
		e.add(100 * time.Millisecond)
	}
	if got := e.seconds(); got < 0.1 || got > 0.2 {
		t.Errorf("after ten times 0.1 s behind one of 1 s the average is %.3f s", got)
	}
}

func TestStrategyNames(t *testing.T) {
	for _, want := range []Strategy{Weighted, RoundRobin, LeastInFlight, Fastest} {
		var got Strategy
		if err := got.UnmarshalText([]byte(want.String())); err != nil || got != want {
			t.Errorf("%v read as %v, %v", want, got, err)
		}
	}
	if err := new(Strategy).UnmarshalText([]byte("random")); err == nil {
		t.Error("random is not a strategy's name")
	}
}
