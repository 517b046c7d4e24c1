package pool

import (
	"strconv"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/pool/route"
)

// serveAs makes an exchange with the id that the proxy serves.
func serveAs(t *testing.T, p *Pool, id, target string, m *Proxy, now time.Time) {
	t.Helper()
	x, refusal, _ := p.Begin(Request{ID: id, Target: target}, now)
	if refusal != nil {
		t.Fatal(*refusal)
	}
	x.Reached(leaseOf(t, x, m, now), FirstByte, 0, now)
	x.End(now)
}

func TestServedExchangesAreRemembered(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	a, b := p.Proxies()[0], p.Proxies()[1]
	serveAs(t, p, "first", "x.test:443", a, epoch)
	x := begin(t, p, "y.test:443", epoch) // "test"
	x.Fail(leaseOf(t, x, a, epoch), Fault{Signal: HandshakeClosed}, epoch)
	if _, _, known := p.ServedBy("test"); known {
		t.Error("known before it was served")
	}
	x.TargetUp(leaseOf(t, x, b, epoch), epoch)
	x.End(epoch)
	if m, target, known := p.ServedBy("first"); !known || m != a || target != "x.test:443" {
		t.Errorf("%v, %s", m, target)
	}
	if m, target, known := p.ServedBy("test"); !known || m != b || target != "y.test:443" {
		t.Errorf("%v, %s: the one that served counts", m, target)
	}
	if _, _, known := p.ServedBy(""); known {
		t.Error("an exchange without an id is known")
	}
	p.Replace(weighted(1, 1)[1:], epoch)
	if _, _, known := p.ServedBy("first"); known {
		t.Error("its proxy is gone")
	}
}

func TestMemoryOfServedExchangesIsBounded(t *testing.T) {
	var s served
	count := func(upTo int) (known int) {
		for i := range upTo {
			if _, ok := s.find(strconv.Itoa(i)); ok {
				known++
			}
		}
		return known
	}
	for i := range servedPlaces / 10 {
		s.add(servedBy{request: strconv.Itoa(i)})
	}
	if n := count(servedPlaces / 10); n < servedPlaces/10*9/10 {
		t.Errorf("%d of %d are known", n, servedPlaces/10)
	}
	for i := range 10 * servedPlaces {
		s.add(servedBy{request: strconv.Itoa(i)})
	}
	if n := count(10 * servedPlaces); n > servedPlaces {
		t.Errorf("%d are known", n)
	}
	if _, known := s.find(strconv.Itoa(10*servedPlaces - 1)); !known {
		t.Error("the last one is not known")
	}
}

func TestReportedFailuresOpenABreaker(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	m := p.Proxies()[0]
	reachThrough(t, p, m, "x.test:443", epoch)
	for i := range 5 {
		if m.breaker.Load().State(epoch) != breaker.Closed {
			t.Fatalf("open after %d", i)
		}
		_, counts, events := p.Report(Report{Proxy: m, Verdict: ReportedFailure, Request: "r"}, epoch)
		if !counts || len(events) != 1 || events[0].Signal != Reported || events[0].Request != "r" {
			t.Errorf("%v, %+v", counts, events)
		}
	}
	if m.breaker.Load().State(epoch) != breaker.Open {
		t.Error("closed after five")
	}
	if got := p.Settled()[Reported][breaker.Failure]; got != 5 {
		t.Errorf("%d are counted", got)
	}
	wait := m.breaker.Load().RetryAfter(epoch)
	for _, at := range []time.Time{epoch, epoch.Add(wait + time.Second)} { // due: a report is no test
		for _, v := range []Verdict{ReportedFailure, ReportedOK} {
			if _, counts, events := p.Report(Report{Proxy: m, Verdict: v}, at); counts || len(events) > 0 || m.breaker.Load().State(at) != breaker.Open {
				t.Errorf("%v of one that rests: %v, %+v", v, counts, events)
			}
		}
	}
}

func TestReportedSuccessEndsARun(t *testing.T) {
	p := newTestPool(weighted(1, 1))
	m := p.Proxies()[0]
	reachThrough(t, p, m, "x.test:443", epoch)
	for range 4 {
		p.Report(Report{Proxy: m, Verdict: ReportedFailure}, epoch)
	}
	if _, counts, _ := p.Report(Report{Proxy: m, Verdict: ReportedOK}, epoch); !counts {
		t.Error("it does not count")
	}
	p.Report(Report{Proxy: m, Verdict: ReportedFailure}, epoch)
	if m.breaker.Load().State(epoch) != breaker.Closed {
		t.Error("open after one failure in a row")
	}
}

func TestReportedBansAreOfOneTarget(t *testing.T) {
	for _, c := range []struct {
		verdict    Verdict
		rest, want time.Duration
	}{
		{ReportedBanned, time.Minute, time.Minute}, {ReportedCaptcha, 0, 5 * time.Minute},
		{ReportedBanned, 24 * time.Hour, breaker.DefaultSettings().MaxOpenTimeout},
	} {
		p := newTestPool(weighted(1))
		m := p.Proxies()[0]
		until, counts, events := p.Report(Report{Proxy: m, Target: "x.test:443", Verdict: c.verdict, Rest: c.rest}, epoch)
		if !until.Equal(epoch.Add(c.want)) || !counts || len(events) > 0 || m.breaker.Load().State(epoch) != breaker.Closed {
			t.Errorf("%v for %v: until %v", c.verdict, c.rest, until)
		}
		for _, over := range []bool{false, true} { // in this order: time does not go back
			at := until.Add(-time.Second)
			if over {
				at = until.Add(time.Second)
			}
			if _, _, ok := begin(t, p, "x.test:443", at).Next(at, leaseTime, true); ok != over {
				t.Errorf("%v: picked at %v: %v", c.verdict, at, ok)
			}
		}
		if _, _, ok := begin(t, p, "y.test:443", epoch).Next(epoch, leaseTime, true); !ok {
			t.Error("another target is refused")
		}
	}
}

func TestSessionsAreFoundByTheirClients(t *testing.T) {
	p := newTestPool(weighted(1, 1, 1))
	r := route.Route{Session: "s1"}
	x, _, _ := p.Begin(Request{ID: "r", Target: "x.test:443", Client: "alice", Route: r}, epoch)
	l := next(t, x, epoch)
	x.Reached(l, FirstByte, 0, epoch)
	x.Won(l, epoch)
	x.End(epoch)
	if m, known := p.SessionProxy("alice", r, epoch); !known || m != l.Proxy {
		t.Errorf("%v, want %v", m, l.Proxy)
	}
	if _, known := p.SessionProxy("bob", r, epoch); known {
		t.Error("another client's session")
	}
	if _, known := p.SessionProxy("alice", r, epoch.Add(time.Hour)); known {
		t.Error("it is over")
	}
	if _, known := p.SessionProxy("alice", route.Route{}, epoch); known {
		t.Error("no session has a proxy")
	}
}

func TestVerdictsAreWords(t *testing.T) {
	for v := range Verdict(len(verdictNames)) {
		var got Verdict
		if err := got.UnmarshalText([]byte(v.String())); err != nil || got != v {
			t.Errorf("%v: %v, %v", v, got, err)
		}
	}
	for _, bad := range []string{"", "OK", "unknown", "bann"} {
		if new(Verdict).UnmarshalText([]byte(bad)) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func BenchmarkServed(b *testing.B) {
	ids := make([]string, 4*servedPlaces)
	for i := range ids {
		ids[i] = strconv.FormatUint(uint64(i)*0x9e3779b97f4a7c15, 16)
	}
	var s served
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.add(servedBy{request: ids[i%len(ids)], proxy: "0123456789abcdef", target: "x.test:443"})
	}
}
