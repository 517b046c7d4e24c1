package upstream

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/pool"
	"swivel/pool/route"
	"swivel/pool/upstream/leaktest"
)

// members makes pool members of specs.
func members(specs ...*pool.Spec) []*pool.Proxy {
	var all []*pool.Spec
	for _, s := range specs {
		s.Weight = 1
		all = append(all, s)
	}
	return pool.New(all, pool.Options{Breaker: breaker.DefaultSettings()}, time.Now()).Proxies()
}

func transports(t *testing.T) *Transports {
	t.Helper()
	leaktest.Watch(t)
	ts := NewTransports(patient(), 20*time.Second)
	t.Cleanup(func() { ts.Keep(func(pool.ID) bool { return false }) })
	return ts
}

// A vendor binds the exit to the credentials that a connection began with.
func TestSessionsAtOneAddressNeverShareAConnection(t *testing.T) {
	p := proxyPlain(t, nil, nil)
	ts := transports(t)
	both := members(specFor(pool.HTTP, p.addr, "session-1:pw"), specFor(pool.HTTP, p.addr, "session-2:pw"))
	for i := range 6 {
		if got := fetch(t, ts.For(both[i%2]), asking("GET")); got != fmt.Sprint(i%2+1) {
			t.Errorf("session %d was served on connection %s", i%2+1, got)
		}
	}
	users := map[string]string{}
	for _, head := range p.received() {
		_, credentials, _ := cutField(head, "Proxy-Authorization: ")
		if was, ok := users[head[:1]]; ok && was != credentials {
			t.Errorf("connection %s carried two users", head[:1])
		}
		users[head[:1]] = credentials
	}
	if users["1"] != "Basic c2Vzc2lvbi0xOnB3" || users["2"] != "Basic c2Vzc2lvbi0yOnB3" {
		t.Errorf("the users are %v", users)
	}
}

// A gateway's line is one proxy, but what fills its placeholders is who one is.
func TestFilledCredentialsNeverShareAConnection(t *testing.T) {
	p := proxyPlain(t, nil, nil)
	ts := transports(t)
	gateway := members(specFor(pool.HTTP, p.addr, "user-session-{session}:pw"))[0]
	for i := range 9 {
		fetchAs(t, ts.For(gateway), gateway.Spec.For(route.Route{Session: fmt.Sprint(i % 3)}, "x"), asking("GET"))
	}
	users := map[string]string{}
	for _, head := range p.received() {
		_, credentials, _ := cutField(head, "Proxy-Authorization: ")
		if was, ok := users[head[:1]]; credentials == "" || ok && was != credentials {
			t.Errorf("connection %s carried %q and %q", head[:1], was, credentials)
		}
		users[head[:1]] = credentials
	}
	if n := ts.For(gateway).idling(); n != 3 || len(users) != 3 {
		t.Errorf("%d connections for three sessions, %d of them idle", len(users), n)
	}
}

func TestGatewayKeepsNoConnectionOfARandomSession(t *testing.T) {
	p := proxyPlain(t, nil, nil)
	ts := transports(t)
	specs, err := pool.ParseLine("u-{session}:pw@"+p.addr.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	gateway := members(specs[0])[0]
	for i := range 3 {
		fetchAs(t, ts.For(gateway), gateway.Spec.For(route.Route{}, fmt.Sprint("r", i)), asking("GET"))
	}
	if n := ts.For(gateway).idling(); n != 0 {
		t.Errorf("%d connections wait for nobody", n)
	}
	fetchAs(t, ts.For(gateway), gateway.Spec.For(route.Route{Session: "a"}, "r"), asking("GET"))
	if n := ts.For(gateway).idling(); n != 1 {
		t.Errorf("%d idle connections of a session", n)
	}
}

func TestManySessionsOfAGatewayKeepFewConnections(t *testing.T) {
	p := proxyPlain(t, nil, func(v *visit) {
		for v.head() {
			_, _ = fmt.Fprint(v, "HTTP/1.1 204 No Content\r\n\r\n")
		}
	})
	ts := transports(t)
	gateway := members(specFor(pool.HTTP, p.addr, "user-session-{session}:pw"))[0]
	for i := range 2 * maxIdle {
		fetchAs(t, ts.For(gateway), gateway.Spec.For(route.Route{Session: fmt.Sprint(i)}, "x"), asking("GET"))
	}
	if n := ts.For(gateway).idling(); n != maxIdle {
		t.Errorf("%d idle connections", n)
	}
}

// A tunnel through a SOCKS proxy leads to one target only.
func TestTunnelsAreKeptForTheirTarget(t *testing.T) {
	p := proxyPlain(t, nil, func(v *visit) {
		_, _ = v.br.Discard(3)
		_, _ = v.Write([]byte{5, 0})
		_, _ = v.br.Discard(5 + len("a.test") + 2)
		_, _ = v.Write([]byte{5, 0, 0, 1, 127, 0, 0, 1, 0, 80})
		for v.head() {
			v.answer()
		}
	})
	ts := transports(t)
	proxy := members(specFor(pool.SOCKS5, p.addr, ""))[0]
	for i := range 6 {
		r := asking("GET")
		r.Authority = []string{"a.test:80", "b.test:80"}[i%2]
		if got := fetch(t, ts.For(proxy), r); got != fmt.Sprint(i%2+1) {
			t.Errorf("%s was asked on connection %s", r.Authority, got)
		}
	}
}

func TestProxyThatLeftThePoolKeepsNoConnection(t *testing.T) {
	p := proxyPlain(t, nil, nil)
	ts := transports(t)
	both := members(specFor(pool.HTTP, p.addr, "a:a"), specFor(pool.HTTP, p.addr, "b:b"))
	first, second := ts.For(both[0]), ts.For(both[1])
	many(t, first, 2)
	many(t, second, 2)
	ts.Keep(func(id pool.ID) bool { return id == both[1].ID })
	if first.idling() != 0 || second.idling() != 2 {
		t.Errorf("idle connections: %d of the one that left, %d of the one that stayed", first.idling(), second.idling())
	}
	if ts.For(both[1]) != second {
		t.Error("the transport of the one that stayed was replaced")
	}
}

func TestReloadThatChangesHowToReachAProxyIsFollowed(t *testing.T) {
	p := proxyPlain(t, nil, nil)
	ts := transports(t)
	old := members(specFor(pool.HTTP, p.addr, ""))[0]
	first := ts.For(old)
	many(t, first, 1)
	same := members(specFor(pool.HTTP, p.addr, ""))[0]
	if ts.For(same) != first {
		t.Error("nothing changed, but the connections were given up")
	}
	spec := specFor(pool.HTTP, p.addr, "")
	spec.Rotating = true
	changed := members(spec)[0]
	if changed.ID != old.ID {
		t.Fatal("the identity changed")
	}
	second := ts.For(changed)
	if second == first || first.idling() != 0 {
		t.Error("the old way to reach the proxy is still in use")
	}
}

func TestSweepEndsWithItsContext(t *testing.T) {
	p := proxyPlain(t, nil, nil)
	ts := transports(t)
	tr := ts.For(members(specFor(pool.HTTP, p.addr, ""))[0])
	many(t, tr, 3)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ts.Sweep(ctx)
	if n := tr.idling(); n != 0 {
		t.Errorf("%d idle connections", n)
	}
}

// With a hundred thousand proxies, an idle connection each is more than there are
// descriptors.
func TestManyProxiesKeepFewConnections(t *testing.T) {
	p := proxyPlain(t, nil, nil)
	ts := transports(t)
	ts.LimitIdle(3)
	var specs []*pool.Spec
	for i := range 6 { // with the two that follow fewer than ten connections, whose numbers are the answers
		specs = append(specs, specFor(pool.HTTP, p.addr, fmt.Sprintf("session-%d:pw", i)))
	}
	all := members(specs...)
	idle := func() (n int) {
		for _, m := range all {
			n += ts.For(m).idling()
		}
		return n
	}
	for _, m := range all {
		fetch(t, ts.For(m), asking("GET"))
	}
	if n := idle(); n != 3 {
		t.Errorf("%d idle connections", n)
	}
	if a, b := fetch(t, ts.For(all[0]), asking("GET")), fetch(t, ts.For(all[0]), asking("GET")); a != "1" || b != "1" {
		t.Errorf("the connection that is kept is not used: %s, %s", a, b)
	}
	ts.For(all[0]).Close()
	fetch(t, ts.For(all[5]), asking("GET"))
	fetch(t, ts.For(all[4]), asking("GET"))
	if n := idle(); n != 3 {
		t.Errorf("%d idle connections once there was room again", n)
	}
	if n := ts.room.taken.Load(); n != 3 {
		t.Errorf("%d places are taken", n)
	}
}

func TestTransportsServeManyAtOnce(t *testing.T) {
	p := proxyPlain(t, nil, nil)
	ts := transports(t)
	all := members(specFor(pool.HTTP, p.addr, "a:a"), specFor(pool.HTTP, p.addr, "b:b"), specFor(pool.HTTP, p.addr, "c:c"))
	var workers sync.WaitGroup
	for i := range 20 {
		workers.Go(func() {
			for j := range 20 {
				resp, err := ts.For(all[(i+j)%3]).RoundTrip(context.Background(), context.Background(), all[(i+j)%3].Spec, asking("GET"))
				if err != nil {
					t.Error(err)
					return
				}
				var b [8]byte
				if n, err := resp.Body.Read(b[:]); n == 0 {
					t.Error(err)
				}
				resp.Close()
				if j == 10 {
					ts.Keep(func(id pool.ID) bool { return id != all[i%3].ID })
				}
			}
		})
	}
	workers.Wait()
}

// cutField splits a head around the value of a field.
func cutField(head, name string) (before, value, after string) {
	before, rest, _ := strings.Cut(head, "\r\n"+name)
	value, after, _ = strings.Cut(rest, "\r\n")
	return before, value, after
}
