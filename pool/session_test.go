package pool

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"swivel/pool/route"
)

// visit makes one exchange of a session that succeeds, and returns its lease;
// nil if it got none.
func visit(t *testing.T, p *Pool, session string, strict bool, now time.Time) *Lease {
	t.Helper()
	x, refusal, _ := p.Begin(Request{ID: "test", Target: "target.test:443", Client: "me", Route: route.Route{Session: session, Strict: strict}}, now)
	if refusal != nil {
		t.Fatalf("refused: %+v", *refusal)
	}
	defer x.End(now)
	l, _, ok := x.Next(now, leaseTime, true)
	if !ok {
		return nil
	}
	x.Won(l, now)
	x.Reached(l, FirstByte, 0, now)
	l.Release()
	return l
}

// homes is where each of n sessions is served now, and how many say that they
// moved.
func homes(t *testing.T, p *Pool, n int, now time.Time) (at []ID, moved int) {
	t.Helper()
	for i := range n {
		l := visit(t, p, fmt.Sprint("s", i), false, now)
		if l == nil {
			t.Fatalf("session %d got nobody", i)
		}
		if l.Moved() != "" {
			moved++
		}
		at = append(at, l.Proxy.ID)
	}
	return at, moved
}

func ones(n int) []*Spec {
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = 1
	}
	return weighted(weights...)
}

func TestOnlyTheSessionsOfOpenedProxiesMoveAndOnlyOnce(t *testing.T) {
	const n = 1000
	p := newTestPool(ones(100))
	before, _ := homes(t, p, n, epoch)
	if again, moved := homes(t, p, n, epoch.Add(time.Minute)); moved != 0 || !slices.Equal(again, before) {
		t.Fatalf("%d sessions moved without a reason", moved)
	}
	opened := map[ID]bool{}
	for i := range 10 {
		trip(t, p, 7*i, epoch)
		opened[p.Proxies()[7*i].ID] = true
	}
	after, moved := homes(t, p, n, epoch.Add(time.Second))
	had := 0
	for i := range before {
		switch {
		case !opened[before[i]]:
			if after[i] != before[i] {
				t.Errorf("session %d moved although its proxy serves", i)
			}
		case opened[after[i]]:
			t.Errorf("session %d is still with a proxy that rests", i)
		default:
			had++
		}
	}
	if moved != had || had < n/20 {
		t.Errorf("%d say that they moved, %d had to", moved, had)
	}
	for i := range 10 { // those that rested serve again: nobody goes back
		mend(t, p, 7*i, epoch.Add(time.Minute))
	}
	if later, moved := homes(t, p, n, epoch.Add(2*time.Minute)); moved != 0 || !slices.Equal(later, after) {
		t.Errorf("%d sessions moved a second time", moved)
	}
}

// mend closes the breaker of the i-th proxy by two successful probes.
func mend(t *testing.T, p *Pool, i int, now time.Time) {
	t.Helper()
	m := p.Proxies()[i]
	for range 2 {
		x := begin(t, p, "target.test:443", now)
		x.Reached(leaseOf(t, x, m, now), FirstByte, 0, now)
		x.End(now)
	}
}

func TestSessionsAreSharedOutByWeight(t *testing.T) {
	p := newTestPool(weighted(1, 3, 6))
	counts := map[ID]int{}
	at, _ := homes(t, p, 4000, epoch)
	for _, id := range at {
		counts[id]++
	}
	checkShares(t, p, counts, 4000, 0.1, 0.3, 0.6)
}

func TestSessionsAreWhereTheyWereAfterARestart(t *testing.T) {
	specs := ones(50)
	p := newTestPool(specs)
	_, _ = homes(t, p, 200, epoch)
	for i := range 5 {
		trip(t, p, i, epoch)
	}
	before, _ := homes(t, p, 200, epoch)
	pins, gone := p.ChangedSessions(epoch)
	if len(pins) != 200 || len(gone) != 0 {
		t.Fatalf("%d pins to store, %d gone", len(pins), len(gone))
	}
	next := newTestPool(specs) // where nobody rests
	next.RestoreSessions(pins, epoch.Add(time.Minute))
	if after, moved := homes(t, next, 200, epoch.Add(time.Minute)); moved != 0 || !slices.Equal(after, before) {
		t.Errorf("%d sessions moved with the restart", moved)
	}
}

func TestAReloadMovesOnlyTheSessionsOfRemovedProxies(t *testing.T) {
	specs := ones(20)
	p := newTestPool(specs)
	before, _ := homes(t, p, 300, epoch)
	removed := p.Proxies()[3].ID
	p.Replace(append(slices.Delete(slices.Clone(specs), 3, 4), &Spec{Host: "192.0.2.9", Port: 1, Weight: 50}), epoch)
	after, _ := homes(t, p, 300, epoch)
	for i := range before {
		if (before[i] == removed) == (before[i] == after[i]) {
			t.Errorf("session %d: was at %s (removed: %v), is at %s", i, before[i], before[i] == removed, after[i])
		}
	}
}

func TestAStrictSessionWaitsForItsProxy(t *testing.T) {
	p := newTestPool(ones(5))
	home := visit(t, p, "s", true, epoch).Proxy
	trip(t, p, index(t, p, home), epoch)
	if l := visit(t, p, "s", true, epoch.Add(time.Second)); l != nil {
		t.Fatalf("served by %v although its proxy rests", l.Proxy.Spec.Port)
	}
	x, _, _ := p.Begin(Request{ID: "test", Target: "target.test:443", Client: "me", Route: route.Route{Session: "s", Strict: true}}, epoch)
	_, _, _ = x.Next(epoch.Add(time.Second), leaseTime, true)
	if got := x.RetryAfter(epoch.Add(time.Second)); got != 29*time.Second {
		t.Errorf("may come back in %v, want the rest that is left: 29s", got)
	}
	l := visit(t, p, "s", true, epoch.Add(31*time.Second))
	if l == nil || l.Proxy != home || !l.Probe {
		t.Errorf("when the rest is over nobody tests the session's proxy: %+v", l)
	}
}

func TestABrokenConnectionDoesNotMoveASession(t *testing.T) {
	p := newTestPool(ones(5))
	home := visit(t, p, "s", false, epoch).Proxy
	x, _, _ := p.Begin(Request{Target: "target.test:443", Client: "me", Route: route.Route{Session: "s"}}, epoch)
	for range 2 {
		l := next(t, x, epoch)
		if l.Proxy != home {
			t.Fatal("it moved at the first broken connection")
		}
		x.Fail(l, Fault{Signal: HandshakeClosed}, epoch)
	}
	l := next(t, x, epoch)
	if l.Proxy == home || l.Moved() != "tried" {
		t.Fatalf("after two broken connections it is at home: %v, moved %q", l.Proxy == home, l.Moved())
	}
	if visit(t, p, "s", false, epoch).Proxy != home {
		t.Error("it moved to a proxy that has not served it yet")
	}
	x.Won(l, epoch)
	if visit(t, p, "s", false, epoch).Proxy != l.Proxy {
		t.Error("it does not stay with the proxy that served it")
	}
}

func TestADeadTargetMovesNoSession(t *testing.T) {
	p := newTestPool(ones(5))
	home := visit(t, p, "s", false, epoch).Proxy
	x, _, _ := p.Begin(Request{Target: "dead.test:443", Client: "me", Route: route.Route{Session: "s"}}, epoch)
	for range 5 {
		x.Fail(next(t, x, epoch), Fault{Signal: HandshakeGateway}, epoch)
	}
	x.End(epoch)
	if visit(t, p, "s", false, epoch).Proxy != home {
		t.Error("the session moved")
	}
}

func TestAFullProxyKeepsItsSessions(t *testing.T) {
	specs := ones(3)
	for i := range specs {
		specs[i].MaxInFlight = 1
	}
	p := newTestPool(specs)
	home := visit(t, p, "s", false, epoch).Proxy
	home.inFlight.Add(1)
	if l := visit(t, p, "s", false, epoch); l != nil {
		t.Errorf("served elsewhere: %q", l.Moved())
	}
	home.inFlight.Add(-1)
	if l := visit(t, p, "s", false, epoch); l == nil || l.Proxy != home {
		t.Error("not served by its own proxy when that has room")
	}
}

func TestASessionEndsWithItsTime(t *testing.T) {
	p := newTestPool(ones(50))
	x, _, _ := p.Begin(Request{Target: "a.test:1", Client: "me", Route: route.Route{Session: "s", TTL: time.Minute}}, epoch)
	l := next(t, x, epoch)
	x.Won(l, epoch)
	_, _ = p.ChangedSessions(epoch)
	if _, gone := p.ChangedSessions(epoch.Add(time.Minute)); len(gone) != 0 || p.Sessions() != 1 {
		t.Error("forgotten too early")
	}
	if _, gone := p.ChangedSessions(epoch.Add(time.Minute + 1)); len(gone) != 1 || p.Sessions() != 0 {
		t.Errorf("%d sessions to be removed, %d left", len(gone), p.Sessions())
	}
}

func TestSessionsAreBounded(t *testing.T) {
	p := New(ones(10), Options{Salt: []byte("salt"), MaxSessions: 100}, epoch)
	for i := range 150 {
		visit(t, p, fmt.Sprint("s", i), false, epoch.Add(time.Duration(i)))
	}
	if n := p.Sessions(); n != 100 {
		t.Errorf("%d sessions, at most 100 may be kept", n)
	}
	changed, gone := p.ChangedSessions(epoch.Add(time.Second))
	if len(changed) != 100 || len(gone) != 50 {
		t.Errorf("%d to store and %d to remove, want 100 and 50", len(changed), len(gone))
	}
	p.Unsaved(changed[:1], gone[:1])
	if changed, gone := p.ChangedSessions(epoch.Add(time.Second)); len(changed) != 1 || len(gone) != 1 {
		t.Errorf("what could not be stored is lost: %d and %d", len(changed), len(gone))
	}
}

// A client that names a new session with each request would else fill the memory
// as long as the database is locked.
func TestSessionsThatCannotBeStoredAreBoundedToo(t *testing.T) {
	p := New(ones(10), Options{Salt: []byte("salt"), MaxSessions: 100}, epoch)
	for i := range 5000 {
		visit(t, p, fmt.Sprint("s", i), false, epoch.Add(time.Duration(i)))
		if i%50 == 0 {
			p.Unsaved(p.ChangedSessions(epoch.Add(time.Duration(i))))
		}
	}
	changed, gone := p.ChangedSessions(epoch.Add(time.Second))
	if len(changed) != 100 || len(gone) > 101 {
		t.Errorf("%d to store and %d to remove", len(changed), len(gone))
	}
}

func TestSessionsOfDifferentClientsAndPlacesAreDifferent(t *testing.T) {
	p := newTestPool(ones(2))
	seen := map[SessionID]string{}
	for _, client := range []string{"", "a", "as"} {
		for _, r := range []route.Route{{Session: "s"}, {Session: "ss"}, {Session: "s", Country: "us"}, {Session: "s", Region: "us"}} {
			id := p.SessionID(client, r)
			if other, known := seen[id]; known {
				t.Errorf("%q %+v is the same as %s", client, r, other)
			}
			seen[id] = fmt.Sprintf("%q %+v", client, r)
			if back, ok := ParseSessionID(id.String()); !ok || back != id {
				t.Errorf("%s does not come back", id)
			}
		}
	}
	if id := p.SessionID("a", route.Route{Country: "us"}); id != (SessionID{}) {
		t.Error("a session that nobody asked for")
	}
}

// TestAConstrainedPickMeetsItsConstraints also checks that the shares among those
// who meet them are their weights, with members out.
func TestAConstrainedPickMeetsItsConstraints(t *testing.T) {
	countries := []string{"us", "de", "jp"}
	rapid.Check(t, func(rt *rapid.T) {
		specs := ones(rapid.IntRange(2, 40).Draw(rt, "proxies"))
		for i := range specs {
			specs[i].Country = rapid.SampledFrom(countries).Draw(rt, "country")
			specs[i].Weight = float64(rapid.IntRange(0, 5).Draw(rt, "weight"))
		}
		p := newTestPool(specs)
		total := 0.0
		for i, m := range p.Proxies() {
			if rapid.IntRange(0, 3).Draw(rt, "out") == 0 {
				p.Pause(p.Proxies()[i:i+1], Pause{Reason: "out"})
			} else if m.Spec.Country == "de" {
				total += m.Spec.Weight
			}
		}
		counts := map[*Proxy]int{}
		const picks = 3000
		for range picks {
			x, _, _ := p.Begin(Request{Target: "a.test:1", Route: route.Route{Country: "de"}}, epoch)
			l, _, ok := x.Next(epoch, leaseTime, true)
			if ok != (total > 0) {
				rt.Fatalf("picked: %v, but what is usable weighs %v", ok, total)
			}
			if !ok {
				return
			}
			counts[l.Proxy]++
			x.Reached(l, FirstByte, 0, epoch)
			l.Release()
			x.End(epoch)
		}
		for m, n := range counts {
			if got, want := float64(n)/picks, m.Spec.Weight/total; m.Spec.Country != "de" || m.Paused() != nil || got < want-0.06 || got > want+0.06 {
				rt.Fatalf("%s (weight %v, paused %v) got %.3f, want %.3f", m.Spec.Country, m.Spec.Weight, m.Paused() != nil, got, want)
			}
		}
	})
}

func TestViewsAreBoundedAndStayRight(t *testing.T) {
	specs := ones(600)
	for i := range specs {
		specs[i].City = fmt.Sprint("c", i%300)
	}
	p := newTestPool(specs)
	for round := range 2 {
		for i := range 300 {
			x, _, _ := p.Begin(Request{Target: "a.test:1", Route: route.Route{City: fmt.Sprint("c", i)}}, epoch)
			if l := next(t, x, epoch); l.Proxy.Spec.City != fmt.Sprint("c", i) {
				t.Fatalf("round %d: city %d was served by %s", round, i, l.Proxy.Spec.City)
			}
		}
	}
	if n := len(p.current.Load().views.by); n > maxViews {
		t.Errorf("%d views", n)
	}
	if l := next(t, begin(t, p, "a.test:1", epoch), epoch); l == nil {
		t.Error("the view of all is gone")
	}
}

func TestADueProxyOfAFewIsFoundAmongManyThatAreDue(t *testing.T) {
	specs := ones(100)
	specs[99].Country = "de"
	p := newTestPool(specs)
	for i := range specs {
		trip(t, p, i, epoch.Add(time.Duration(i)*time.Millisecond))
	}
	due := epoch.Add(time.Minute)
	x, _, _ := p.Begin(Request{Target: "a.test:1", Route: route.Route{Country: "de"}}, due)
	if l := next(t, x, due); !l.Probe || l.Proxy.Spec.Country != "de" {
		t.Errorf("leased %s, probe %v", l.Proxy.Spec.Country, l.Probe)
	}
}

func TestNobodyMeetsTheConstraints(t *testing.T) {
	p := newTestPool(ones(3))
	x, _, _ := p.Begin(Request{Target: "a.test:1", Route: route.Route{Country: "xx"}}, epoch)
	if _, _, ok := x.Next(epoch, leaseTime, true); ok {
		t.Error("picked")
	}
	if _, unmatched := x.Unmatched(); !unmatched {
		t.Error("not unmatched")
	}
	if _, unmatched := begin(t, p, "a.test:1", epoch).Unmatched(); unmatched {
		t.Error("an exchange that asks for nothing is unmatched")
	}
}

func TestTheKeysThatNobodyMeetsAreNamed(t *testing.T) {
	specs := ones(3)
	specs[0].Country, specs[1].City = "de", "berlin"
	p := newTestPool(specs)
	for _, c := range []struct {
		route route.Route
		want  string
	}{
		{route.Route{Country: "xx", City: "berlin"}, "country"},
		{route.Route{Tag: "none", Proxy: "nobody", Country: "de"}, "tag proxy"},
		{route.Route{Country: "de", City: "berlin"}, "country city"}, // each is met, but not by one
	} {
		r := Request{Target: "a.test:1", Route: c.route}
		x, _, _ := p.Begin(r, epoch)
		if keys, _ := x.Unmatched(); strings.Join(keys, " ") != c.want {
			t.Errorf("%v: %v, want %s", c.route, keys, c.want)
		}
		if e := p.Explain(r, epoch); !e.Stuck || e.RetryAfter != 0 || strings.Join(e.Lacking, " ") != c.want || len(e.Chances[0].Misses) == 0 {
			t.Errorf("%v: explained as %+v", c.route, e)
		}
	}
}
