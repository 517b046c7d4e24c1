package breaker_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"swivel/breaker"
)

// simulate has a proxy of which a share of the attempts fails serve for so long,
// and counts the openings by rule. Rests are waited out.
func simulate(s breaker.Settings, seed uint64, perSecond int, share float64, length time.Duration) map[breaker.Rule]int {
	r := rand.New(rand.NewPCG(seed, 1))
	b := breaker.New(s, nil)
	opened := map[breaker.Rule]int{}
	for now := start; now.Before(start.Add(length)); now = now.Add(time.Second / time.Duration(perSecond)) {
		now = now.Add(b.RetryAfter(now))
		p, _, ok := b.Acquire(now, lease)
		if !ok {
			continue
		}
		v := breaker.Verdict{}
		if r.Float64() < share {
			v.Outcome = breaker.Failure
		}
		for t := range b.Report(p, v, now).Transitions {
			if t.From == breaker.Closed {
				opened[t.Rule]++
			}
		}
	}
	return opened
}

// TestBusyProxyThatAlwaysFailsALittleIsNotOpenedByChance is what the length of
// a run is adapted for: of five failures in a row, one fifth failing, there is
// one every 40 seconds at 100 attempts a second.
func TestBusyProxyThatAlwaysFailsALittleIsNotOpenedByChance(t *testing.T) {
	fixed := plain()
	fixed.Window, fixed.MinSamples = time.Second, 1000 // never enough to adapt a run
	if n := simulate(fixed, 1, 100, 0.2, time.Hour)[breaker.RuleRun]; n < 20 {
		t.Errorf("opened only %d times by five in a row: the test tests nothing", n)
	}
	total := 0
	for seed := range uint64(3) {
		n := simulate(plain(), seed, 100, 0.2, time.Hour)[breaker.RuleRun]
		if n > 1 {
			t.Errorf("seed %d: opened %d times within an hour, want at most once", seed, n)
		}
		total += n
	}
	if total > 1 {
		t.Errorf("opened %d times within three hours, want about once in twenty", total)
	}
}

func TestProxyThatFailsMostlyIsOpenedSoon(t *testing.T) {
	for seed := range uint64(100) {
		k := newRig(t, plain())
		r := rand.New(rand.NewPCG(seed, 2))
		attempts := 0
		for k.b.State(k.now) == breaker.Closed {
			o := breaker.Success
			if r.Float64() < 0.6 {
				o = breaker.Failure
			}
			k.attempt(o)
			k.wait(10 * time.Millisecond)
			attempts++
		}
		if attempts > 40 {
			t.Errorf("seed %d: took %d attempts, want about 20", seed, attempts)
		}
	}
}

func TestRunIsNotAdaptedBeforeThereAreEnoughSamples(t *testing.T) {
	for _, c := range []struct {
		name       string
		before     int // outcomes before the run, one in four failed
		wantLength int
	}{
		{"one too few", 19, 5},
		{"enough", 20, 8},
		{"hundred", 100, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := plain()
			s.ErrorRatio = 1
			k := newRig(t, s)
			for i := range c.before {
				if i%4 == 0 {
					k.attempt(breaker.Failure)
				} else {
					k.attempt(breaker.Success)
				}
			}
			length := 0
			for k.b.State(k.now) == breaker.Closed {
				k.attempt(breaker.Failure)
				length++
			}
			if length != c.wantLength {
				t.Errorf("opened after %d in a row, want %d", length, c.wantLength)
			}
		})
	}
}

func TestProxyThatNeverFailedOpensAfterFiveHoweverBusy(t *testing.T) {
	k := newRig(t, plain())
	for range 10_000 {
		k.attempt(breaker.Success)
	}
	for range 4 {
		k.attempt(breaker.Failure)
	}
	k.wantMove(k.attempt(breaker.Failure), breaker.Closed, breaker.Open, breaker.RuleRun)
}

func TestRunThatFillsTheWindowOpensWhateverWasBefore(t *testing.T) {
	s := plain()
	s.ErrorRatio = 1
	k := newRig(t, s)
	k.mixed(40, 2)
	k.attempt(breaker.Success)
	for i := range 1000 { // nine of ten fail: hardly any run would be long enough
		if i%10 == 9 {
			k.attempt(breaker.Success)
		} else {
			k.attempt(breaker.Failure)
		}
	}
	for range 60 {
		k.attempt(breaker.Failure)
		k.wantState(breaker.Closed)
		k.wait(time.Second)
	}
	k.wantMove(k.attempt(breaker.Failure), breaker.Closed, breaker.Open, breaker.RuleRun)
}

func TestLongRunOfABusyProxyAgesLikeAnyOther(t *testing.T) {
	s := plain()
	s.ErrorRatio = 1
	k := newRig(t, s)
	k.mixed(100, 2)
	k.attempt(breaker.Success)
	for range 10 {
		k.attempt(breaker.Failure)
	}
	k.wantState(breaker.Closed)
	k.wait(2 * time.Hour)
	for range 4 {
		k.attempt(breaker.Failure)
	}
	k.wantState(breaker.Closed)
	if e := k.attempt(breaker.Failure); e.Transition.Failures != 5 {
		t.Errorf("effect %+v, want a run of five", e)
	}
}
