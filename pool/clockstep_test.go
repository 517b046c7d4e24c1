package pool

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	"swivel/breaker"
)

// stepped is now as a process reads it whose wall clock was set by so many whole
// seconds: the monotonic reading is what it would have been. There is no other
// way to make such a time; the test looks first whether this one still works.
func stepped(now time.Time, by time.Duration) time.Time {
	wall := (*uint64)(unsafe.Pointer(&now))
	*wall += uint64(int64(by/time.Second)) << 30 // above the nanoseconds
	return now
}

// TestRestsDoNotMoveWithTheWallClock: whatever a running pool waits for takes as
// long as it would have, also what an earlier life has left.
func TestRestsDoNotMoveWithTheWallClock(t *testing.T) {
	const hours = 5 * time.Hour
	for _, by := range []time.Duration{-hours, hours} {
		t.Run(fmt.Sprint(by), func(t *testing.T) {
			start := time.Now()
			if s := stepped(start, by); s.Sub(start) != 0 || s.Round(0).Sub(start.Round(0)) != by {
				t.Fatalf("a time that was stepped by %v is %v, was %v", by, s, start)
			}
			after := func(d time.Duration) time.Time { return stepped(start.Add(d), by) }
			settings := breaker.DefaultSettings()
			settings.Jitter = 0
			p := New(weighted(1, 1, 1, 1), Options{Breaker: settings, Salt: []byte("salt"), ProbeRate: 1000}, start)
			trip(t, p, 0, start)
			banned, session := p.Proxies()[1], SessionID{1}
			p.RestoreTargets([]Ban{{Proxy: banned.ID, Target: "banned.test:443", Until: start.Add(time.Minute).Round(0)}},
				[]TargetRest{{Target: "down.test:443", Until: start.Add(20 * time.Second).Round(0), Rest: 20 * time.Second}}, start)
			p.RestoreSessions([]Pin{{Session: session, Proxy: p.Proxies()[2].ID, LastUse: start.Add(-time.Minute).Round(0), TTL: 10 * time.Minute}}, start)

			if left := p.Proxies()[0].Breaker().RetryAfter(after(10 * time.Second)); left != 20*time.Second {
				t.Errorf("10 s of a rest of 30 s are over, and %v are left", left)
			}
			if left := p.TargetRests("down.test:443", after(15*time.Second)); left != 5*time.Second {
				t.Errorf("15 s of a target's rest of 20 s are over, and %v are left", left)
			}
			if n := len(p.banned(keyOf("banned.test:443"), after(59*time.Second))); n != 1 {
				t.Errorf("the ban ends early: %d", n)
			}
			bans, rests := p.Targets(after(15 * time.Second))
			if len(bans) != 1 || len(rests) != 1 || bans[0].Until.Sub(after(15*time.Second).Round(0)) != 45*time.Second || rests[0].Until.Sub(after(15*time.Second).Round(0)) != 5*time.Second {
				t.Errorf("to be stored: %+v, %+v", bans, rests)
			}
			if n := len(p.banned(keyOf("banned.test:443"), after(61*time.Second))); n != 0 {
				t.Errorf("the ban does not end: %d", n)
			}
			if at := p.sessions.peek(session, after(8*time.Minute)); at != p.Proxies()[2].ID {
				t.Error("a session that was used nine minutes ago has lost its proxy")
			}
			if at := p.sessions.peek(session, after(10*time.Minute)); at != "" {
				t.Error("a session that was used eleven minutes ago has kept its proxy")
			}
		})
	}
}
