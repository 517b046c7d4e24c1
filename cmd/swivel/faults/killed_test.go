package faults

import (
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// keepsBreakers: each state that the daemon told when it was asked is stored, or
// a later one.
func (k *killTest) keepsBreakers(t *testing.T, round int, asked time.Time, known map[string]swiveltest.Member, after stored) {
	t.Helper()
	for name, m := range known {
		r, found := after.breakers[m.ID]
		later := r.changed.After(asked.Add(-2 * time.Millisecond))
		switch {
		case later, m.State == "closed" && !found, m.State == "closed" && r.state == "closed":
		case m.State == r.state && (m.State != "open" || same(m.Due(), r.next)):
		default:
			t.Errorf("round %d: %s was %+v when asked %v before the kill, and is stored as %+v", round, name, m, urgentWithin(), r)
		}
	}
}

// keepsOthers: every verdict of an exchange that the log shows, and that was over
// long enough before the kill, has reached the row. Bans and pauses are there.
func (k *killTest) keepsOthers(t *testing.T, round int, killed time.Time, after stored) {
	t.Helper()
	last := map[string]time.Time{} // by proxy: when the last such exchange began
	for _, l := range k.daemon.Lines(t, "exchange") {
		if !l.Time.Before(killed.Add(-othersWithin())) {
			continue
		}
		for _, a := range l.Attempts {
			if a.Outcome == "failure" || a.Outcome == "refused" {
				last[a.Proxy] = l.Began()
			}
			if a.Signal == "handshake_denied" && l.Target == bannedTarget && l.Time.Before(killed.Add(-othersWithin()-200*time.Millisecond)) {
				k.banned = true
			}
		}
	}
	for id, began := range last {
		if r := after.breakers[id]; r.update.Before(began.Add(-2 * time.Millisecond)) {
			t.Errorf("round %d: the row of %s is of %v, but it failed at %v, and was killed at %v", round, id, r.update, began, killed)
		}
	}
	if k.banned && !after.bans[[2]string{k.ids["denies"], bannedTarget}] {
		t.Errorf("round %d: the ban is not stored", round)
	}
	if !after.paused[k.ids["paused"]] || after.paused[k.ids["toggled"]] != k.paused {
		t.Errorf("round %d: stored pauses are %v, of %v", round, after.paused, k.ids)
	}
	if n := k.upstreams["denies"].asked(bannedTarget); k.banned && n > 6 {
		t.Errorf("round %d: the proxy that denies the target was asked for it %d times", round, n)
	}
}

// keepsSessions: who was with a proxy long enough before the kill still is, as
// long as that serves. Who has moved is told why.
func (k *killTest) keepsSessions(t *testing.T, known map[string]pinned) {
	t.Helper()
	for name, was := range known {
		m := k.members(t)[was.proxy]
		if k.sessions[name].proxy != was.proxy {
			continue // it has moved since
		}
		if m.State != "closed" || m.Paused {
			continue
		}
		got, err := client{proxy: k.daemon.Listen, user: "u-session-" + name}.visit("session.test:443")
		switch {
		case err != nil:
			t.Errorf("session %s: %v", name, err)
		case got.proxy == was.proxy:
			k.kept++
		case got.moved == "" && k.members(t)[was.proxy].State == "closed":
			t.Errorf("session %s was with %s and is with %s", name, was.proxy, got.proxy)
		}
	}
}

// members are those of the daemon by their id.
func (k *killTest) members(t *testing.T) map[string]swiveltest.Member {
	t.Helper()
	all := map[string]swiveltest.Member{}
	for _, m := range k.daemon.Members(t) {
		all[m.ID] = m
	}
	return all
}

// nobodyWasTriedAtRest: who rested when this life began was left alone until the
// rest was over, and who is paused was never asked.
func (k *killTest) nobodyWasTriedAtRest(t *testing.T, round int, before stored, began time.Time) {
	t.Helper()
	for name, u := range k.upstreams {
		if r := before.breakers[k.ids[name]]; r.state == "open" {
			if n := u.came(began, r.next.Add(-time.Millisecond)); n > 0 {
				t.Errorf("round %d: %s rests until %v and was tried %d times since %v", round, name, r.next, n, began)
			}
		}
	}
	if n := k.upstreams["paused"].came(began, time.Now()); round > 0 && n > 0 {
		t.Errorf("round %d: the paused proxy was asked %d times", round, n)
	}
}
