package attempts

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"swivel/breaker"
	"swivel/pool"
	"swivel/pool/upstream"
)

// deadPool is what 200 clients make of a pool that is dead, in simulated time.
type deadPool struct {
	loop  *Loop
	start time.Time
	dies  time.Duration // when; 0: it never worked

	mu       sync.Mutex
	attempts []int // in each second
	answers  []int
}

const (
	deadClients = 200
	deadProxies = 100
	deadLasts   = 60 * time.Second
	// clientPause is how soon a client that was refused asks again, whatever it
	// was told.
	clientPause = 250 * time.Millisecond
	// probeRate of the pool: the default and one for each hundred.
	probeRate = 5 + deadProxies/100
)

func newDeadPool(dies time.Duration) *deadPool {
	specs := make([]*pool.Spec, deadProxies)
	for i := range specs {
		specs[i] = &pool.Spec{Host: "10.0.0.1", Port: uint16(i + 1), Weight: 1}
	}
	d := &deadPool{start: time.Now(), dies: dies, attempts: make([]int, 200), answers: make([]int, 200)}
	p := pool.New(specs, pool.Options{Breaker: breaker.DefaultSettings(), Salt: []byte("salt")}, time.Now())
	d.loop = New(p, Settings{
		Attempts: 5, ExchangeTimeout: 30 * time.Second, FirstByte: 10 * time.Second, Response: 2 * time.Minute,
		ProbePatience: 200 * time.Millisecond, RetryBudget: 0.2,
	}, func([]pool.Event) {})
	return d
}

// client asks again and again until the end.
func (d *deadPool) client(name string, until time.Duration) {
	for n := 0; time.Since(d.start) < until; n++ {
		d.exchange(fmt.Sprint(name, n), fmt.Sprintf("t%d.test:443", n%50))
		d.count(d.answers)
		time.Sleep(clientPause)
	}
}

func (d *deadPool) exchange(id, target string) {
	x := d.loop.Begin(pool.Request{ID: id, Target: target})
	defer x.End()
	_, lease, err := Run(context.Background(), x, Plan[struct{}]{
		Try:   d.try,
		Late:  func(l *pool.Lease, _ struct{}) { x.Overtaken(l) },
		Probe: true, Hedge: true,
	})
	if err == nil {
		x.Reached(lease, pool.FirstByte, time.Millisecond)
		lease.Release()
	}
}

func (d *deadPool) try(context.Context, *pool.Lease) (struct{}, error) {
	d.count(d.attempts)
	time.Sleep(time.Millisecond)
	if time.Since(d.start) < d.dies {
		return struct{}{}, nil
	}
	return struct{}{}, &upstream.Error{Signal: pool.DialRefused}
}

func (d *deadPool) count(of []int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	of[int(time.Since(d.start)/time.Second)]++
}

// size is how many goroutines there are and how much memory is in use.
func size() (goroutines int, heap int64) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return runtime.NumGoroutine(), int64(m.HeapAlloc)
}

// TestClientsOfADeadPoolDoNotHammerIt: once the breakers know, nobody is dialled
// but for the tests, and nothing piles up.
func TestClientsOfADeadPoolDoNotHammerIt(t *testing.T) {
	for name, dies := range map[string]time.Duration{"that never worked": 0, "that has just died": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDeadPool(dies)
				defer d.loop.Close()
				var clients sync.WaitGroup
				for i := range deadClients {
					clients.Go(func() { d.client(fmt.Sprint(i, " "), dies+deadLasts) })
				}
				learnt := dies + 10*time.Second
				time.Sleep(learnt)
				goroutines, heap := size()
				time.Sleep(dies + deadLasts - learnt - time.Millisecond)
				moreGoroutines, moreHeap := size()
				clients.Wait()
				d.check(t, int(dies/time.Second), int(learnt/time.Second))
				t.Logf("from 10 s to 60 s behind the death: %d to %d goroutines, %d to %d KiB of memory",
					goroutines, moreGoroutines, heap>>10, moreHeap>>10)
				if moreGoroutines > goroutines+10 || moreHeap > heap+1<<20 {
					t.Error("something piles up")
				}
			})
		})
	}
}

// check wants no more attempts in any second than there are tests, once the
// breakers know.
func (d *deadPool) check(t *testing.T, dead, learnt int) {
	end := learnt + 50
	after := d.attempts[learnt:end]
	t.Logf("attempts in each second since the death: %v, then at most %d; answers %d in a second",
		d.attempts[dead:learnt], slices.Max(after), slices.Max(d.answers[learnt:end]))
	if most := slices.Max(after); most > 2*probeRate {
		t.Errorf("%d attempts in one second, want %d or so: %v", most, probeRate, after)
	}
	total := 0
	for _, n := range after {
		total += n
	}
	if total > len(after)*(probeRate+1) {
		t.Errorf("%d attempts in %d seconds, want at most %d a second", total, len(after), probeRate)
	}
	if least := slices.Min(d.answers[learnt:end]); least < deadClients/2 {
		t.Errorf("only %d answers in one second: clients wait for a pool that is dead", least)
	}
}

// BenchmarkRefusalOfADeadPool is an exchange that finds everybody resting.
func BenchmarkRefusalOfADeadPool(b *testing.B) {
	d := newDeadPool(0)
	defer d.loop.Close()
	for d.loop.Pool.RetryAfter(time.Now()) == 0 {
		d.exchange("learning", "t.test:443")
	}
	b.ReportAllocs()
	for b.Loop() {
		d.exchange("late", "t.test:443")
	}
}
