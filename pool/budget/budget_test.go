package budget

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func spendAll(b *Budget, now time.Time) int {
	n := 0
	for b.Spend(now) {
		n++
	}
	return n
}

func TestABudgetIsFullAtTheStart(t *testing.T) {
	if n := spendAll(New(0.2, 10, 500, epoch), epoch); n != 500 {
		t.Errorf("%d tokens", n)
	}
}

func TestWorkAndTimeFillIt(t *testing.T) {
	b := New(0.2, 10, 500, epoch)
	spendAll(b, epoch)
	for range 100 {
		b.Earn()
	}
	if n := spendAll(b, epoch); n != 20 {
		t.Errorf("%d tokens for 100 units of work, want 20", n)
	}
	if n := spendAll(b, epoch.Add(3*time.Second)); n != 30 {
		t.Errorf("%d tokens for three seconds, want 30", n)
	}
}

func TestItHoldsNoMoreThanItsCapacity(t *testing.T) {
	b := New(1, 1, 5, epoch)
	for range 100 {
		b.Earn()
	}
	if got := b.Tokens(epoch.Add(time.Hour)); got != 5 {
		t.Errorf("%v tokens", got)
	}
}

func TestAClockThatStepsBackTakesNothing(t *testing.T) {
	b := New(0, 1, 5, epoch)
	if got := b.Tokens(epoch.Add(-time.Hour)); got != 5 {
		t.Errorf("%v tokens", got)
	}
}

func TestTheZeroBudgetGivesNothing(t *testing.T) {
	var b Budget
	b.Earn()
	if b.Spend(epoch) {
		t.Error("gave a token")
	}
}

func TestConcurrentSpendersNeverGetMoreThanThereIs(t *testing.T) {
	b := New(0, 0, 100, epoch)
	var mu sync.Mutex
	total := 0
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			n := spendAll(b, epoch)
			mu.Lock()
			total += n
			mu.Unlock()
		})
	}
	wg.Wait()
	if total != 100 {
		t.Errorf("%d tokens spent of 100", total)
	}
}

// TestTimesOutOfOrderBringNothingTwice: of many who look at the clock at once,
// some are held up before they ask.
func TestTimesOutOfOrderBringNothingTwice(t *testing.T) {
	b := New(0, 10, 10, epoch)
	spendAll(b, epoch)
	n := 0
	for i := range 100 {
		n += spendAll(b, epoch.Add(time.Duration(i)*10*time.Millisecond)) // a second in all
		n += spendAll(b, epoch.Add(time.Duration(i)*10*time.Millisecond-50*time.Millisecond))
	}
	if n > 10 {
		t.Errorf("%d tokens in a second, want 10", n)
	}
}

func TestWhatIsTakenTooEarlyIsOwed(t *testing.T) {
	b := New(0, 10, 10, epoch)
	for range 15 {
		b.Take(epoch)
	}
	if n := b.Tokens(epoch); n != -5 {
		t.Errorf("%v tokens, want 5 owed", n)
	}
	if n := spendAll(b, epoch.Add(time.Second)); n != 5 {
		t.Errorf("%d tokens after a second, want 5", n)
	}
}

func TestAnotherRateCountsFromNowOn(t *testing.T) {
	b := New(0, 10, 10, epoch)
	spendAll(b, epoch)
	b.SetRate(1, 3, epoch.Add(time.Second))
	if n := spendAll(b, epoch.Add(time.Second)); n != 3 || b.PerSecond() != 1 {
		t.Errorf("%d tokens at %v a second, want as many as it holds now, at 1", n, b.PerSecond())
	}
	if n := spendAll(b, epoch.Add(3*time.Second)); n != 2 {
		t.Errorf("%d tokens for two seconds", n)
	}
}

func TestTokenThatIsGivenBackIsThereOnce(t *testing.T) {
	b := New(0, 0, 5, epoch)
	var using atomic.Int32
	var working sync.WaitGroup
	for range 8 {
		working.Go(func() {
			for range 1000 {
				if b.Spend(epoch) {
					if n := using.Add(1); n > 5 {
						t.Errorf("%d tokens are used of 5", n)
					}
					using.Add(-1)
					b.GiveBack()
				}
			}
		})
	}
	working.Wait()
	b.GiveBack()
	if got := b.Tokens(epoch); got != 5 {
		t.Errorf("%v tokens are left of 5", got)
	}
}
