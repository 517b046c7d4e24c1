package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"swivel/pool"
	"swivel/storage"
)

// What a fleet shares beside breakers are items, whose keys begin with one of
// these. Times in their values are distances from the item's own time, since only
// that is translated between clocks.
const (
	pinItem   = "pin:"   // a session: its proxy
	pauseItem = "pause:" // a proxy: a pause, or nothing
	banItem   = "ban:"   // a proxy and a target: for how long
	restItem  = "rest:"  // a target: how long it rests, or nothing
)

const (
	// resumedFor is how long an instance may be away and still hear that a pause
	// has ended; pausedFor is how long one is remembered that nobody repeats.
	resumedFor, pausedFor = 24 * time.Hour, 24 * time.Hour
	// remindEvery is how often each instance repeats the pauses that it has.
	remindEvery = time.Hour
	// reachedFor is how long it is remembered that a target was reached again.
	reachedFor = 10 * time.Minute
)

// paused is a pause as an item has it.
type paused struct {
	Reason string `json:"reason,omitempty"`
	By     string `json:"by,omitempty"`
	Drain  bool   `json:"drain,omitempty"`
}

func (d *Daemon) tellPause(id pool.ID, why pool.Pause) {
	if d.member != nil {
		text, _ := json.Marshal(paused{why.Reason, why.By, why.Drain}) // strings and a bool
		d.member.loop.Tell(pauseItem+string(id), string(text), why.At, pausedFor)
	}
}

func (d *Daemon) tellResumed(id pool.ID, at time.Time) {
	if d.member != nil {
		d.member.loop.Tell(pauseItem+string(id), "", at, resumedFor)
	}
}

// tellPins shares where sessions are, other than those that were learnt.
func (d *Daemon) tellPins(pins []pool.Pin) {
	if d.member == nil {
		return
	}
	for _, p := range pins {
		if !p.Learnt {
			d.member.loop.Tell(pinItem+p.Session.String(), fmt.Sprintf("%s %d", p.Proxy, p.TTL.Milliseconds()), p.LastUse, p.TTL)
		}
	}
}

// toldTargets are the bans and the resting targets that the fleet knows of, by the
// keys of their items, and until when they are.
type toldTargets struct {
	mu    sync.Mutex
	until map[string]time.Time
}

// known says whether the fleet knows of this already, and takes it for known.
func (t *toldTargets) known(key string, until time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	off := until.Sub(t.until[key])
	t.until[key] = until
	return off > -time.Second && off < time.Second
}

// ended returns what is known and not over, but not in the list, and forgets that
// and what is over.
func (t *toldTargets) ended(list map[string]bool, now time.Time) (keys []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, until := range t.until {
		if list[key] && until.After(now) {
			continue
		}
		if !list[key] && until.After(now) {
			keys = append(keys, key)
		}
		delete(t.until, key)
	}
	return keys
}

// tellTargets shares what is new of the bans and resting targets, of which these
// are all.
func (d *Daemon) tellTargets(bans []pool.Ban, rests []pool.TargetRest, now time.Time) {
	if d.member == nil {
		return
	}
	told, list := &d.member.targets, map[string]bool{}
	for _, b := range bans {
		key := banItem + string(b.Proxy) + " " + b.Target
		if list[key] = true; !told.known(key, b.Until) {
			left := b.Until.Sub(now)
			d.member.loop.Tell(key, fmt.Sprint(left.Milliseconds()), now, left)
		}
	}
	for _, r := range rests {
		key := restItem + r.Target
		if list[key] = true; !told.known(key, r.Until) {
			began := r.Until.Add(-r.Rest)
			d.member.loop.Tell(key, fmt.Sprintf("%d %d", r.Rest.Milliseconds(), r.Rest.Milliseconds()), began, r.Rest+reachedFor)
		}
	}
	for _, key := range told.ended(list, now) {
		if strings.HasPrefix(key, restItem) {
			d.member.loop.Tell(key, "", now, reachedFor)
		}
	}
}

// LearnItem implements fleet.Daemon. What makes no sense is as good as absent: it
// may be a newer version's.
func (m *member) LearnItem(key, value string, at time.Time) {
	kind, name, _ := strings.Cut(key, ":")
	switch kind + ":" {
	case pinItem:
		m.learnPin(name, value, at)
	case pauseItem:
		m.learnPause(pool.ID(name), value, at)
	case banItem:
		proxy, target, _ := strings.Cut(name, " ")
		var left int64
		if _, err := fmt.Sscan(value, &left); err == nil {
			until := at.Add(time.Duration(left) * time.Millisecond)
			m.targets.known(key, until)
			m.d.pool.LearnBan(pool.Ban{Proxy: pool.ID(proxy), Target: target, Until: until}, time.Now())
		}
	case restItem:
		m.learnRest(key, name, value, at)
	}
}

func (m *member) learnPin(name, value string, at time.Time) {
	id, ok := pool.ParseSessionID(name)
	var proxy string
	var ttl int64
	if _, err := fmt.Sscan(value, &proxy, &ttl); ok && err == nil {
		m.d.pool.LearnPin(pool.Pin{Session: id, Proxy: pool.ID(proxy), LastUse: at, TTL: time.Duration(ttl) * time.Millisecond}, time.Now())
	}
}

func (m *member) learnRest(key, target, value string, at time.Time) {
	var left, rest int64
	if _, err := fmt.Sscan(value, &left, &rest); err != nil && value != "" {
		return
	}
	r := pool.TargetRest{Target: target, Until: at.Add(time.Duration(left) * time.Millisecond), Rest: time.Duration(rest) * time.Millisecond}
	if value != "" {
		m.targets.known(key, r.Until)
	}
	m.d.pool.LearnTargetRest(r, at, time.Now())
}

// learnPause has a pause that somebody ordered elsewhere, or its end, put into
// force and stored behind the loop's back: a database that is locked must not cost
// this instance its leases.
func (m *member) learnPause(id pool.ID, value string, at time.Time) {
	var p paused
	if json.Unmarshal([]byte(value), &p) != nil && value != "" {
		return
	}
	why := pool.Pause{Reason: p.Reason, By: p.By, At: at.Round(time.Microsecond), Drain: p.Drain}
	select {
	case m.deeds <- func() { m.d.obey(id, why, value == "") }:
	case <-m.over: // nobody stores it any more; the fleet tells it again at the next start
	}
}

// obey does what an operator had done elsewhere, unless it has happened already
// or something newer did.
func (d *Daemon) obey(id pool.ID, why pool.Pause, ends bool) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	d.pauses.mu.Lock()
	defer d.pauses.mu.Unlock()
	have, is := d.pauses.by[id]
	if is && !have.At.Add(sameDeed).Before(why.At) || !is && ends {
		return
	}
	deed := storage.Deed{At: time.Now(), Caller: "fleet", Action: "pause", Subject: string(id), Input: why.Reason}
	if ends {
		deed.Action = "resume"
		if d.Audit(deed) == nil {
			_ = d.endPause(ctx, id, deed.Caller) // the log says it
		}
		return
	}
	if why.Drain {
		deed.Action = "drain"
	}
	if d.Audit(deed) == nil && d.storePause(ctx, id, why) == nil {
		if m, ok := d.pool.Get(id); ok {
			d.tellPaused(m, why)
		}
	}
}

// sameDeed is how far two readings of the time of one deed may lie apart.
const sameDeed = 10 * time.Millisecond

// storeDeeds does one after the other, until ctx ends.
func (m *member) storeDeeds(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case deed := <-m.deeds:
			deed()
		}
	}
}

// remindOfPauses keeps the fleet from forgetting them.
func (m *member) remindOfPauses(ctx context.Context) {
	for !pause(ctx, remindEvery) {
		m.tellPauses()
	}
}

func (m *member) tellPauses() {
	m.d.pauses.mu.Lock()
	defer m.d.pauses.mu.Unlock()
	for id, why := range m.d.pauses.by {
		m.d.tellPause(id, why)
	}
}

// Rejoined implements fleet.Daemon.
func (m *member) Rejoined() {
	m.targets.mu.Lock()
	clear(m.targets.until)
	m.targets.mu.Unlock()
	bans, rests := m.d.pool.Targets(time.Now())
	m.d.tellTargets(bans, rests, time.Now())
	m.d.tellPins(m.d.pool.Pins())
	go m.tellPauses() // whoever stores one has the lock
}
