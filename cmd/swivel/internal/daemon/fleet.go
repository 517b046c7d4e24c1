package daemon

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/fleet"
	"swivel/pool"
	"swivel/storage/redis"
)

// joinTimeout is how long a start waits for the fleet's hub. Without it the
// instance begins with what it knew the last time.
const joinTimeout = 5 * time.Second

// saltGrace is how long it waits for others to say what their salt is, if the hub
// has none: it may have been started anew, and they are about to find that out.
const saltGrace = 2 * time.Second

// member is the daemon's side of a fleet; see [fleet.Daemon].
type member struct {
	d       *Daemon
	client  *redis.Client
	loop    *fleet.Loop
	listens context.CancelFunc // ends the hub's part
	settled uint64             // attempts when Busy was last asked
	deeds   chan func()        // what operators had done elsewhere, to be stored here
	over    <-chan struct{}    // closed when the instance is to end; the loop's goroutine only
	targets toldTargets
}

// salted returns the salt by which proxies are called, which is the fleet's if
// there is one: the same proxies have the same ids in all instances. When that is
// another than the database has, its rows go on under the other ids.
func (d *Daemon) salted(ctx context.Context, specs []*pool.Spec) ([]byte, error) {
	salt, err := d.store.Salt(ctx)
	if err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	if d.cfg.Fleet == "" {
		return salt, nil
	}
	client, err := redis.Open(d.cfg.Fleet.Reveal())
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	d.member = &member{d: d, client: client, deeds: make(chan func(), 4096), targets: toldTargets{until: map[string]time.Time{}}}
	shared, err := fleetSalt(ctx, client, salt)
	if err != nil {
		d.log.Warn().Err(err).Msg("fleet: nobody answers: this instance begins with what it knew the last time")
		return salt, nil
	}
	if string(shared) == string(salt) {
		return salt, nil
	}
	if err := d.store.Rekey(ctx, shared, newIDs(specs, salt, shared)); err != nil {
		return nil, fmt.Errorf("db: %w", err)
	}
	d.log.Info().Msg("fleet: joined for the first time: what the database knows of the listed proxies goes on under the fleet's ids; sessions begin anew")
	return shared, nil
}

// fleetSalt asks a few times: the server may be about to be started too.
func fleetSalt(ctx context.Context, client *redis.Client, own []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	for began := time.Now(); ; {
		has, err := client.HasSalt(ctx)
		if has || err == nil && time.Since(began) > saltGrace {
			return client.Salt(ctx, own)
		}
		if pause(ctx, 100*time.Millisecond) {
			return nil, cmp.Or(err, ctx.Err())
		}
	}
}

// newIDs has the id by another salt for each id that rows of these proxies have.
func newIDs(specs []*pool.Spec, old, salt []byte) map[string]string {
	ids := make(map[string]string, len(specs))
	was, is := storedIDs(idsOf(specs, old), specs, old), storedIDs(idsOf(specs, salt), specs, salt)
	for i := range was {
		ids[was[i]] = is[i]
	}
	return ids
}

// begin makes the loop, when there is a pool.
func (m *member) begin() {
	ctx, cancel := context.WithCancel(context.Background())
	m.listens = cancel
	instance := fleet.New(rand.Text()[:8], fleet.Settings{
		Salt: hex.EncodeToString(m.d.salt), Window: time.Duration(m.d.cfg.Breaker.Window),
	}, m)
	m.loop = fleet.NewLoop(m.client.Hub(ctx), instance, m, nil)
}

// run keeps in touch with the fleet until ctx ends.
func (m *member) run(ctx context.Context) {
	m.over = ctx.Done()
	var workers sync.WaitGroup
	workers.Go(func() { m.storeDeeds(ctx) })
	workers.Go(func() { m.remindOfPauses(ctx) })
	m.loop.Run(ctx)
	workers.Wait()
}

// close ends the connections; the loop has ended.
func (m *member) close() error {
	if m.listens != nil {
		m.listens()
	}
	return m.client.Close()
}

// Share implements fleet.Members.
func (m *member) Share(id string, now time.Time) (breaker.Share, bool) {
	return m.d.pool.Share(pool.ID(id), now)
}

// Standing implements fleet.Members.
func (m *member) Standing(id string, now time.Time) (s breaker.Standing, edition uint32, probing, ok bool) {
	p, ok := m.d.pool.Get(pool.ID(id))
	if !ok {
		return s, 0, false, false
	}
	s, edition, probing = p.Breaker().Standing(now)
	return s, edition, probing, true
}

// Learn implements fleet.Members.
func (m *member) Learn(id string, o breaker.Others, now time.Time) {
	m.d.sink(m.d.pool.Learn(pool.ID(id), o, now))
}

// Adopt implements fleet.Members.
func (m *member) Adopt(id string, s breaker.Standing, edition uint32, now time.Time) (uint32, bool) {
	adopted, ok, events := m.d.pool.Adopt(pool.ID(id), s, edition, now)
	m.d.sink(events)
	return adopted, ok
}

// All implements fleet.Members.
func (m *member) All() []string {
	proxies := m.d.pool.Proxies()
	ids := make([]string, len(proxies))
	for i, p := range proxies {
		ids[i] = string(p.ID)
	}
	return ids
}

// Len implements fleet.Members.
func (m *member) Len() int { return len(m.d.pool.Proxies()) }

// DueBy implements fleet.Members.
func (m *member) DueBy(at time.Time, most int) []string { return texts(m.d.pool.DueBy(at, most)) }

// Busy implements fleet.Members.
func (m *member) Busy() bool {
	var settled uint64
	for _, outcomes := range m.d.pool.Settled() {
		for _, n := range outcomes {
			settled += n
		}
	}
	busy := settled != m.settled
	m.settled = settled
	return busy
}

// Lease implements fleet.Daemon.
func (m *member) Lease(ids []string, until time.Time) {
	held := make([]pool.ID, len(ids))
	for i, id := range ids {
		held[i] = pool.ID(id)
	}
	m.d.pool.Lease(held, until)
}

// LeaseNone implements fleet.Daemon.
func (m *member) LeaseNone() { m.d.pool.LeaseNone() }

// Wanted implements fleet.Daemon.
func (m *member) Wanted() <-chan struct{} { return m.d.pool.Wanted() }

// TakeWanted implements fleet.Daemon.
func (m *member) TakeWanted() []string { return texts(m.d.pool.TakeWanted()) }

func texts(ids []pool.ID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return out
}

// Incident implements fleet.Daemon.
func (m *member) Incident(err error) {
	if errors.Is(err, redis.ErrSalt) {
		m.d.log.Error().Err(err).Msg("fleet: this instance was started without the fleet and calls proxies by other ids: restart it to join")
		return
	}
	m.d.log.Warn().Err(err).Msg("fleet: the server cannot be used: this instance works on its own until it can")
}

// Recovered implements fleet.Daemon.
func (m *member) Recovered(failures int) {
	m.d.log.Info().Int("failed_calls", failures).Msg("fleet: joined again")
}

// Skewed implements fleet.Daemon.
func (m *member) Skewed(behind time.Duration, much bool) {
	if much {
		m.d.log.Warn().Dur("behind_ms", behind).Msg("fleet: this machine's clock and the server's differ by more than five seconds: have both set by the network")
		return
	}
	m.d.log.Info().Dur("behind_ms", behind).Msg("fleet: the clocks agree again")
}

// noted tells the fleet that a breaker has changed here.
func (d *Daemon) noted(ev pool.Event) {
	if d.member != nil && ev.Segment == "" {
		d.member.loop.Note(string(ev.Proxy.ID))
	}
}

// Fleet is how this instance stands in its fleet; false if it has none.
func (d *Daemon) Fleet() (fleet.Status, bool) {
	if d.member == nil || d.member.loop == nil {
		return fleet.Status{}, false
	}
	return d.member.loop.Status(), true
}
