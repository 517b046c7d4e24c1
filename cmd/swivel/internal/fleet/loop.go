package fleet

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"swivel/storage"
)

// Daemon is what a loop needs of the daemon that it serves. It is called from the
// loop's goroutine.
type Daemon interface {
	Members
	// Lease has only these proxies tested, until a time, LeaseNone every one.
	Lease(ids []string, until time.Time)
	LeaseNone()
	// Wanted gets something when there are proxies for TakeWanted, which requests
	// would have tested.
	Wanted() <-chan struct{}
	TakeWanted() []string
	// Learn an item that another instance has told, as of a time.
	LearnItem(key, value string, at time.Time)
	// Rejoined says that the hub knows nothing of what was told beside proxies.
	Rejoined()
	// Incident says that the hub cannot be used, once until it can be again;
	// Recovered that it can, after so many failures; Skewed that the clock is off
	// by more than it may be, or no longer is.
	Incident(err error)
	Recovered(failures int)
	Skewed(behind time.Duration, much bool)
}

// Status is how an instance stands in its fleet.
type Status struct {
	Up        bool          // the hub answers
	Alone     bool          // it has been silent for so long that proxies are tested without leases
	Instances int           // that the hub has seen lately, this one included
	Answered  time.Time     // the last answer; zero if there was none
	Took      time.Duration // the last call
	Behind    time.Duration // this machine's clock, of the hub's
	Leases    int           // held
	Pending   int           // proxies and items to be told
	Lag       time.Duration // how long the first of them has been waiting; 0 if there is none

	Problem         string // why the last call failed; "" if it did not
	Calls, Failures uint64 // since the start
	Told, Learnt    uint64 // proxies, likewise
}

// Loop keeps an instance in touch with its hub. Create it with [NewLoop]. Its
// methods are safe for concurrent use.
type Loop struct {
	hub      storage.Hub
	daemon   Daemon
	instance *Instance // the loop's goroutine only
	now      func() time.Time
	skewed   bool
	incident bool
	counts   struct{ calls, failures uint64 }
	status   atomic.Pointer[Status]
	wake     chan struct{}

	mu     sync.Mutex
	noted  map[string]struct{} // nil: none
	told   []item
	reread bool
}

type item struct {
	key, value string
	at         time.Time
	ttl        time.Duration
}

// NewLoop returns a loop that does nothing before Run. Its clock is for tests: nil
// is time.Now.
func NewLoop(hub storage.Hub, i *Instance, d Daemon, now func() time.Time) *Loop {
	if now == nil {
		now = time.Now
	}
	l := &Loop{hub: hub, daemon: d, instance: i, now: now, wake: make(chan struct{}, 1)}
	l.status.Store(&Status{Alone: true, Instances: 1})
	return l
}

// Note says that the breaker of a proxy has changed. It takes a map's insertion.
func (l *Loop) Note(id string) {
	l.mu.Lock()
	first := l.noted == nil
	if first {
		l.noted = map[string]struct{}{}
	}
	l.noted[id] = struct{}{}
	l.mu.Unlock()
	if first {
		l.ring()
	}
}

// Tell shares an item; see [Instance.Tell].
func (l *Loop) Tell(key, value string, at time.Time, ttl time.Duration) {
	l.mu.Lock()
	l.told = append(l.told, item{key, value, at, ttl})
	l.mu.Unlock()
	l.ring()
}

// Reread says that the daemon has other members now.
func (l *Loop) Reread() {
	l.mu.Lock()
	l.reread = true
	l.mu.Unlock()
	l.ring()
}

func (l *Loop) ring() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Status returns how it stands.
func (l *Loop) Status() Status { return *l.status.Load() }

// Run keeps in touch until ctx ends, and then gives back what it has.
func (l *Loop) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			l.quit()
			return
		case <-timer.C:
		case <-l.wake:
		case <-l.hub.Nudges():
			l.instance.Nudged(l.now())
		case <-l.daemon.Wanted():
			l.instance.Want(l.daemon.TakeWanted(), l.now())
		}
		l.collect()
		if now := l.now(); !now.Before(l.instance.Next()) {
			l.call(ctx)
		}
		timer.Reset(max(0, l.instance.Next().Sub(l.now())))
	}
}

// collect takes what was noted meanwhile.
func (l *Loop) collect() {
	l.mu.Lock()
	noted, told, reread := l.noted, l.told, l.reread
	l.noted, l.told, l.reread = nil, nil, false
	l.mu.Unlock()
	now := l.now()
	if reread {
		l.instance.Reread(now)
	}
	for id := range noted {
		l.instance.Note(id, now)
	}
	for _, one := range told {
		l.instance.Tell(one.key, one.value, one.at, one.ttl, now)
	}
}

func (l *Loop) call(ctx context.Context) {
	asked := l.now()
	answer, err := l.hub.Sync(ctx, l.instance.Ask(asked))
	heard := l.now()
	l.counts.calls++
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		l.failed(err, heard)
	} else {
		l.heard(answer, asked, heard)
	}
	l.publish(heard, heard.Sub(asked), err)
}

func (l *Loop) failed(err error, now time.Time) {
	l.counts.failures++
	l.instance.Failed(now)
	if !l.incident {
		l.incident = true
		l.daemon.Incident(err)
	}
	if l.instance.Alone(now) {
		l.daemon.LeaseNone()
	}
}

func (l *Loop) heard(answer storage.Synced, asked, heard time.Time) {
	failures, life := l.instance.failures, l.instance.life
	items := l.instance.Hear(answer, asked, heard)
	l.daemon.Lease(l.instance.Leases(), asked.Add(l.instance.settings.Times.LeaseFor))
	for _, one := range items {
		l.daemon.LearnItem(one.Key, one.Value, l.instance.Time(one.Stamp))
	}
	if life != answer.Life {
		l.daemon.Rejoined()
	}
	if l.incident {
		l.incident = false
		l.daemon.Recovered(failures)
	}
	if behind, much := l.instance.Skew(); much != l.skewed {
		l.skewed = much
		l.daemon.Skewed(behind, much)
	}
}

func (l *Loop) publish(now time.Time, took time.Duration, problem error) {
	i := l.instance
	behind, _ := i.Skew()
	s := &Status{
		Up: problem == nil, Alone: i.Alone(now), Instances: i.instances, Answered: i.answered, Took: took, Behind: behind,
		Leases: len(i.leases.held), Pending: len(i.book.queue) + len(i.book.backlog) + len(i.items),
		Calls: l.counts.calls, Failures: l.counts.failures, Told: i.book.pushed, Learnt: i.book.learnt,
	}
	if problem != nil {
		s.Problem = problem.Error()
	}
	if s.Pending > 0 {
		s.Lag = max(0, now.Sub(i.soonAt))
	}
	l.status.Store(s)
}

// quit tells what is left, once, and gives the leases back. Those who cannot be
// given back lapse.
func (l *Loop) quit() {
	l.collect()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, _ = l.hub.Sync(ctx, l.instance.Quit(l.now())) // nobody is left to hear of it
}
