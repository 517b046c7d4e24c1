package resilience

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	perSecond = 60
	// targetCount is how many targets clients ask for, in turn.
	targetCount = 200
	// deadEvery: one exchange in five goes to the dead target while there is one.
	deadEvery = 5
)

// sample is one exchange as its client saw it.
type sample struct {
	target string
	// at is when the exchange was due. Its time counts from here and not from
	// when the generator got round to it: what waits because the machine or the
	// daemon is busy has waited.
	at   time.Time
	took time.Duration
	late time.Duration // of it, how late the generator itself was
	code string
	err  error
}

func (s sample) ended() time.Time { return s.at.Add(s.took) }

// String names the exchange so that its line in the daemon's log can be found.
func (s sample) String() string {
	return fmt.Sprintf("%s, due at %s, after %v: %v (%s)", s.target, s.at.UTC().Format("15:04:05.000"), s.took.Round(time.Millisecond), s.err, s.code)
}

// load sends exchanges at fixed instants, however long the answers take.
type load struct {
	proxy atomic.Pointer[string] // where the daemon listens
	dead  atomic.Bool            // some exchanges go to the dead target

	running sync.WaitGroup
	stop    chan struct{}

	mu      sync.Mutex
	samples []sample
}

// startLoad begins to send to the proxy.
func startLoad(proxy string) *load {
	l := &load{stop: make(chan struct{})}
	l.proxy.Store(&proxy)
	l.running.Go(l.generate)
	return l
}

func (l *load) generate() {
	begin := time.Now()
	next := time.NewTimer(0)
	defer next.Stop()
	for n := 0; ; n++ {
		at := begin.Add(time.Duration(n) * time.Second / perSecond)
		next.Reset(time.Until(at))
		select {
		case <-next.C:
			target := fmt.Sprintf("t%d.example.test:443", n%targetCount)
			if l.dead.Load() && n%deadEvery == 0 {
				target = deadTarget
			}
			l.running.Go(func() { l.exchange(target, at) })
		case <-l.stop:
			return
		}
	}
}

func (l *load) exchange(target string, at time.Time) {
	s := sample{target: target, at: at, late: time.Since(at)}
	s.code, s.err = visitTarget(*l.proxy.Load(), target)
	s.took = time.Since(at)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.samples = append(l.samples, s)
}

// end stops the generator, waits for all answers and returns the samples.
func (l *load) end() []sample {
	close(l.stop)
	l.running.Wait()
	return l.samples
}
