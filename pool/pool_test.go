package pool

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"swivel/breaker"
)

func TestReloadKeepsTheStateOfProxiesThatStay(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1))
	trip(t, p, 0, epoch)
	id := p.Proxies()[0].ID
	specs := weighted(5, 1, 1, 1)[:2] // 0 with another weight, 1 as it was, 2 gone
	specs = append(specs, &Spec{Host: "192.0.2.9", Port: 9, Weight: 1})
	if got, want := p.Replace(specs, epoch), (Change{Added: 1, Kept: 2, Removed: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	m, ok := p.Get(id)
	if !ok || m.breaker.Load().State(epoch) != breaker.Open || m.Spec.Weight != 5 {
		t.Errorf("the open proxy came back as %+v", m)
	}
}

func TestAResultForARemovedProxyIsTaken(t *testing.T) {
	p := newTestPool(weighted(1))
	x := begin(t, p, "a.test:1", epoch)
	l := next(t, x, epoch)
	p.Replace([]*Spec{{Host: "192.0.2.9", Port: 9, Weight: 1}}, epoch)
	x.Fail(l, Fault{Signal: DialRefused}, epoch)
	x.End(epoch)
	if _, ok := p.Get(l.Proxy.ID); ok {
		t.Error("a late result brought the proxy back")
	}
}

func TestRestoredProxiesRestWhatIsLeft(t *testing.T) {
	specs := weighted(1, 1)
	salt := []byte("salt")
	open := specs[0].ID(salt)
	s := breaker.DefaultSettings()
	s.Jitter = 0
	p := New(specs, Options{Breaker: s, Salt: salt, Restore: func(id ID) (breaker.Snapshot, bool) {
		return breaker.Snapshot{State: breaker.Open, OpensInRow: 1, Rule: breaker.RuleRun, NextTest: epoch.Add(25 * time.Second), LastChange: epoch.Add(-5 * time.Second)}, id == open
	}}, epoch)
	m, _ := p.Get(open)
	if got := m.breaker.Load().RetryAfter(epoch); got != 25*time.Second {
		t.Errorf("rests %v, want the 25s that were left", got)
	}
	for range 500 {
		if got, _ := serve(p, epoch); got.ID == open {
			t.Fatal("a resting proxy was picked after a restart")
		}
	}
}

// A restart into a pool whose rests are over must not turn away who comes first, nor
// have all of them tried at once.
func TestFirstClientAfterARestartWasTurnedAwayThoughProxiesWereDue(t *testing.T) {
	p := New(weighted(1, 1, 1), Options{Breaker: breaker.DefaultSettings(), ProbeRate: 5, Restore: func(ID) (breaker.Snapshot, bool) {
		return breaker.Snapshot{State: breaker.Open, OpensInRow: 1, Rule: breaker.RuleRun, NextTest: epoch, LastChange: epoch.Add(-time.Minute)}, true
	}}, epoch)
	probes := 0
	for range 3 {
		x, _, _ := p.Begin(Request{ID: "r", Target: "example.test:443"}, epoch)
		if l, _, ok := x.Next(epoch, time.Minute, true); ok && l.Probe {
			probes++
		}
		x.End(epoch)
	}
	if probes != 1 {
		t.Errorf("%d proxies were tried at the start, want 1", probes)
	}
}

func TestRetryAfterIsTheSoonestProxy(t *testing.T) {
	p := newTestPool(weighted(1, 1, 0))
	if got := p.RetryAfter(epoch); got != 0 {
		t.Errorf("%v with everybody in", got)
	}
	trip(t, p, 0, epoch)
	trip(t, p, 1, epoch.Add(10*time.Second))
	if got := p.RetryAfter(epoch.Add(10 * time.Second)); got != 20*time.Second {
		t.Errorf("%v, want 20s: a proxy of weight 0 does not count", got)
	}
	if got := newTestPool(nil).RetryAfter(epoch); got != time.Minute {
		t.Errorf("%v from an empty pool", got)
	}
}

func TestReachedTargetsAreForgottenInTime(t *testing.T) {
	m := newMemory()
	a, b := keyOf("a.test:443"), keyOf("b.test:443")
	m.noteReached(a, epoch)
	for _, c := range []struct {
		target targetKey
		after  time.Duration
		want   bool
	}{{a, 0, true}, {a, reachedWithin, true}, {a, reachedWithin + time.Second, false}, {a, -time.Minute, false}, {b, 0, false}} {
		if got := m.reachedLately(c.target, epoch.Add(c.after)); got != c.want {
			t.Errorf("after %v: %v, want %v", c.after, got, c.want)
		}
	}
	if newMemory().reachedLately(0, time.Unix(0, 0)) {
		t.Error("an empty memory knows a target")
	}
}

func TestAReloadAppliesWhatALineSaysAboutItsBreaker(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	trip(t, p, 0, epoch)
	specs := weighted(1, 1)
	for i := range specs {
		if known, err := specs[i].Breaker.Set("consecutive_failures", "2"); !known || err != nil {
			t.Fatal(known, err)
		}
	}
	if got, want := p.Replace(specs, epoch), (Change{Kept: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if s := p.Proxies()[0].breaker.Load().State(epoch); s != breaker.Open {
		t.Errorf("the proxy that rested is %v", s)
	}
	m := p.Proxies()[1]
	reachThrough(t, p, m, "a.test:443", epoch)
	for range 2 {
		x := begin(t, p, "a.test:443", epoch)
		x.Fail(leaseOf(t, x, m, epoch), Fault{Signal: DialRefused}, epoch)
		x.End(epoch)
	}
	if s := m.breaker.Load().State(epoch); s != breaker.Open {
		t.Errorf("%v after two failures", s)
	}
	if got := p.current.Load().all.usable.Load(); got != 0 {
		t.Errorf("%d closed members", got)
	}
}

// TestAReloadKnowsEveryFieldOfALine changes one field of a line after the other.
func TestAReloadKnowsEveryFieldOfALine(t *testing.T) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Spec]()) {
		base := Spec{Host: "192.0.2.1", Port: 1, Weight: 1}
		changed := base
		switch v := reflect.ValueOf(&changed).Elem().FieldByIndex(field.Index); v.Kind() {
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Uint8, reflect.Uint16:
			v.SetUint(v.Uint() + 1)
		case reflect.Int:
			v.SetInt(v.Int() + 1)
		case reflect.Float64:
			v.SetFloat(v.Float() + 1)
		case reflect.String:
			v.SetString(v.String() + "x")
		case reflect.Slice:
			changed.Tags = []string{"x"}
		case reflect.Struct:
			if _, err := changed.Breaker.Set("open_timeout", "7s"); err != nil {
				t.Fatal(err)
			}
		}
		if base.same(&changed) || !base.same(&base) {
			t.Errorf("a change of %s is overlooked", field.Name)
		}
		p := newTestPool([]*Spec{&base})
		p.Replace([]*Spec{&changed}, epoch)
		if got := p.Proxies()[0].Spec; !got.same(&changed) {
			t.Errorf("with another %s the proxy is still %+v", field.Name, *got)
		}
	}
}

func TestAReloadLeavesAProxyAloneWhoseLineStays(t *testing.T) {
	specs := weighted(1, 2, 3, 4)
	p := newTestPool(specs)
	before := slices.Clone(p.Proxies())
	heavier := *specs[1]
	heavier.Weight = 7
	next := []*Spec{specs[3], {Host: "192.0.2.9", Port: 9, Weight: 1}, specs[0], &heavier, specs[2]}
	if got, want := p.Replace(next, epoch), (Change{Added: 1, Kept: 4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	after := p.Proxies()
	if after[0] != before[3] || after[2] != before[0] || after[4] != before[2] {
		t.Error("a proxy was made anew although nothing has changed")
	}
	if after[3] == before[1] || after[3].runtime != before[1].runtime || after[3].ID != before[1].ID || after[3].Spec.Weight != 7 {
		t.Error("a proxy with another weight is not the same with another weight")
	}
	trip(t, p, 0, epoch)
	if counts := count(t, p, 2000, 1, epoch); counts[after[0].ID] != 0 || counts[after[3].ID] < 500 {
		t.Errorf("picks: %v", counts)
	}
}
