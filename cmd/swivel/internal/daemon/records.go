package daemon

import (
	"time"

	"swivel/breaker"
	"swivel/pool"
	"swivel/storage"
)

// toRecord is a breaker as the database keeps it.
func toRecord(id pool.ID, b *breaker.Breaker, settings breaker.Settings, now time.Time) storage.Record {
	s := b.Snapshot(now)
	r := storage.Record{
		ProxyID:    string(id),
		State:      s.State.String(),
		Failures:   s.Failures,
		NextTest:   s.NextTest,
		LastChange: s.LastChange,
		Generation: s.Generation,
		OpensInRow: s.OpensInRow,
		Suspicions: s.Suspicions,
		ProbeWins:  s.ProbeWins,
		Threshold:  settings.ConsecutiveFailures,
		RunWindow:  settings.RunWindow,
		Timeout:    settings.OpenTimeout,
		Recent:     s.Recent,
		Succeeded:  s.Succeeded,
		Misses:     s.Misses,
	}
	for _, t := range s.Window {
		r.Window = append(r.Window, storage.Tally(t))
	}
	if s.Rule != breaker.RuleNone {
		r.Cause = s.Rule.String()
	}
	return r
}

// toSnapshot is the reverse. What cannot be understood is as good as absent:
// breaker.Restore copes with any values.
func toSnapshot(r storage.Record) (breaker.Snapshot, bool) {
	state, err := breaker.ParseState(r.State)
	if err != nil {
		return breaker.Snapshot{}, false
	}
	rule, _ := breaker.ParseRule(r.Cause) // RuleNone for what is unknown
	var window []breaker.Tally
	for _, t := range r.Window {
		window = append(window, breaker.Tally(t))
	}
	return breaker.Snapshot{
		Window:     window,
		Recent:     r.Recent,
		Succeeded:  r.Succeeded,
		Misses:     r.Misses,
		State:      state,
		Generation: r.Generation,
		Failures:   r.Failures,
		Suspicions: r.Suspicions,
		OpensInRow: r.OpensInRow,
		Rule:       rule,
		NextTest:   r.NextTest,
		LastChange: r.LastChange,
		ProbeWins:  r.ProbeWins,
	}, true
}

// storedIDs are the ids of the rows that matter to a pool of these proxies: those
// of proxies, which are given, and of their segments.
func storedIDs(proxies []pool.ID, specs []*pool.Spec, salt []byte) []string {
	ids := make([]string, len(proxies), len(proxies)+1)
	for i, id := range proxies {
		ids[i] = string(id)
	}
	segments := map[string]bool{"": true} // not in any
	for i := range specs {
		if name := pool.SegmentName(specs[i]); !segments[name] {
			segments[name] = true
			ids = append(ids, string(pool.SegmentID(name, salt)))
		}
	}
	return ids
}

// idsOf are the ids of proxies that there is no pool of yet.
func idsOf(specs []*pool.Spec, salt []byte) []pool.ID {
	id, ids := pool.IDs(salt), make([]pool.ID, len(specs))
	for i := range specs {
		ids[i] = id(specs[i])
	}
	return ids
}

// restorer gives each proxy what was stored of it.
func restorer(records []storage.Record) func(pool.ID) (breaker.Snapshot, bool) {
	byID := make(map[pool.ID]storage.Record, len(records))
	for _, r := range records {
		byID[pool.ID(r.ProxyID)] = r
	}
	return func(id pool.ID) (breaker.Snapshot, bool) {
		r, ok := byID[id]
		if !ok {
			return breaker.Snapshot{}, false
		}
		return toSnapshot(r)
	}
}

// sink stores and logs what changed. Transitions are urgent.
func (d *Daemon) sink(events []pool.Event) {
	for _, ev := range events {
		if ev.Outage != pool.NoOutage {
			d.log.Outage(ev)
			d.tellOutage(ev, time.Now())
			continue
		}
		d.journal.Put(d.record(ev, time.Now()), ev.Effect.Moved)
		d.log.Transitions(ev)
		d.metrics.Event(ev)
		d.tell(ev)
		d.noted(ev)
	}
}

// record is the state behind an event: of a proxy's breaker, or its segment's.
func (d *Daemon) record(ev pool.Event, now time.Time) storage.Record {
	if ev.Segment != "" {
		return toRecord(d.pool.SegmentID(ev.Segment), ev.Proxy.SegmentBreaker(), d.cfg.SegmentOptions().Breaker, now)
	}
	return toRecord(ev.Proxy.ID, ev.Proxy.Breaker(), pool.SettingsOf(ev.Proxy.Spec, d.cfg.BreakerSettings()), now)
}
