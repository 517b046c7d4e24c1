package pool

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"

	"swivel/breaker"
	"swivel/pool/budget"
)

// Options are what a Pool needs to know beside its members.
type Options struct {
	// Breaker are the limits of every member that does not override them; the
	// zero value means breaker.DefaultSettings.
	Breaker breaker.Settings
	// Salt keys the members' public ids.
	Salt []byte
	// ProbeRate is how many probes a second may be given to resting proxies,
	// in addition to one hundredth of the pool: a thousand proxies that fall
	// due together are not all woken at once. 0 means 5.
	ProbeRate float64
	// TargetRest is how long a target that is down is left alone at first, and
	// MaxTargetRest at most, after it has doubled some times. 0 means 5 s and a
	// minute.
	TargetRest, MaxTargetRest time.Duration
	// BanRest is how long a proxy that refuses a target is not asked for it. 0
	// means five minutes.
	BanRest time.Duration
	// Strategy is how a proxy is chosen among those that are usable.
	Strategy Strategy
	// Segment switches segments on; nil: off.
	Segment *SegmentOptions
	// SessionTTL is how long a session keeps its proxy after its last use, when
	// its client does not say. 0 means ten minutes.
	SessionTTL time.Duration
	// MaxSessions is how many sessions have a proxy at once; then the one that
	// was not used for longest is forgotten. 0 means 100,000.
	MaxSessions int
	// Restore returns the stored state of a proxy, if there is any; nil for
	// none.
	Restore func(ID) (breaker.Snapshot, bool)
}

// filled puts the defaults where nothing is said.
func (o Options) filled() Options {
	o.Breaker = cmp.Or(o.Breaker, breaker.DefaultSettings())
	o.ProbeRate = cmp.Or(o.ProbeRate, 5)
	o.TargetRest = cmp.Or(o.TargetRest, 5*time.Second)
	o.MaxTargetRest = cmp.Or(o.MaxTargetRest, time.Minute)
	o.BanRest = cmp.Or(o.BanRest, 5*time.Minute)
	o.SessionTTL = cmp.Or(o.SessionTTL, 10*time.Minute)
	o.MaxSessions = cmp.Or(o.MaxSessions, 100_000)
	return o
}

// Pool is the set of upstream proxies.
type Pool struct {
	options Options
	current atomic.Pointer[snapshot]
	probes  *budget.Budget // taken from by probes only
	// probeShare is which exchanges carry a probe although others could serve:
	// one in ten, or one a second.
	probeShare *budget.Budget
	resting    resting
	segments   segments
	leases     atomic.Pointer[leases] // nil: no lease is needed to test a proxy
	wanted     wanted
	sessions   *sessions
	freed      chan struct{}
	direct     *Proxy // see Exchange.Direct
	skipped    [skips]atomic.Uint64
	settled    tallies
	canaries   tallies     // attempts of canaries
	apart      atomic.Bool // see TestApart
	memory     *memory
	served     served
	outage     outage
	everyday   everyday
	reloadMu   sync.Mutex // serialises Replace

	troubles  atomic.Uint64 // grows when bans or resting targets change
	nextLapse atomic.Int64  // unix nanoseconds: before it no suspicion's time is up
	blameMu   sync.Mutex
	waiting   suspicions
}

// New returns a pool of the given members at the given time.
func New(specs []*Spec, o Options, now time.Time) *Pool {
	p := &Pool{options: o.filled(), memory: newMemory(), probeShare: budget.New(0.1, 1, 10, now)}
	p.probes = budget.New(0, 0, 1, now) // one at once: of a pool that is all due, the first client is served too
	p.outage.window = p.options.Breaker.Window
	p.segments.options = p.options.Segment
	p.freed = make(chan struct{}, 1)
	p.wanted.wake = make(chan struct{}, 1)
	p.direct = newDirect()
	p.sessions = newSessions(p.options.MaxSessions)
	p.waiting.by = map[targetKey][]*suspicion{}
	empty := newSnapshot(0)
	empty.watch(Weighted, atOnce)
	p.current.Store(empty)
	p.replace(specs, now, atOnce)
	return p
}

// SegmentID is the id under which the state of the pool's segment is stored.
func (p *Pool) SegmentID(name string) ID { return SegmentID(name, p.options.Salt) }

// SettingsOf returns the limits of a proxy's breaker: the pool's, in the form
// for gateways if it is one, with what its own line says on top.
func SettingsOf(spec *Spec, pool breaker.Settings) breaker.Settings {
	if spec.Rotating {
		pool = pool.Rotating()
	}
	return pool.With(spec.Breaker)
}

// Proxies returns the members in the order of their lists. The slice must not
// be changed.
func (p *Pool) Proxies() []*Proxy { return p.current.Load().proxies }

// Get returns the member with the id.
func (p *Pool) Get(id ID) (*Proxy, bool) {
	return p.current.Load().get(id)
}
