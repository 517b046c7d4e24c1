package front

import (
	"net/netip"
	"strconv"
	"testing"
	"time"

	"swivel/pool"
)

func TestAClientOverItsRateWaitsAndOthersDoNot(t *testing.T) {
	r := newRig(t)
	r.users = []string{"alice:a", "bob:b"}
	r.rate = 0.01
	p := r.proxy(func(c *peer) {
		if c.head() != "" {
			c.send(site)
		}
	})
	r.start(p.addr())
	ask := func(send string) (status int) {
		t.Helper()
		c := r.dial()
		c.send(send)
		resp, body := c.reply()
		_ = c.Close()
		if resp.StatusCode == 429 {
			wait, err := strconv.Atoi(resp.Header.Get("Retry-After"))
			if err != nil || wait < 90 || wait > 100 {
				t.Errorf("Retry-After is %q", resp.Header.Get("Retry-After"))
			}
			if resp.Header.Get("X-Swivel-Error") != "rate_limited" {
				t.Errorf("%v %q", resp.Header, body)
			}
		}
		return resp.StatusCode
	}
	for i, step := range []struct {
		send   string
		status int
	}{
		{getWith(basic("alice:a")), 200},
		{getWith(basic("alice:a")), 429},
		{getWith(basic("alice-session-2:a")), 429}, // the same client
		{connectWith(basic("alice:a")), 429},
		{getWith(basic("bob:b")), 200},
		{getWith(basic("bob:b")), 429},
	} {
		if got := ask(step.send); got != step.status {
			t.Errorf("step %d: %d, want %d", i, got, step.status)
		}
	}
	if n, _ := p.asked(); n != 2 {
		t.Errorf("the proxy was asked %d times", n)
	}
}

// A crawler that meets dead or forbidden sites would else have nothing left for
// the others.
func TestWhatIsRefusedAnywayCostsNoToken(t *testing.T) {
	r := newRig(t)
	r.rate = 0.01
	p := r.proxy(answers("HTTP/1.1 503 Unavailable\r\n\r\n"))
	r.start(p.addr())
	r.front.Self = Self{netip.MustParseAddrPort(r.addr)}
	r.front.Targets = denying(t, ".denied.test")
	ask := func(host string, status int, code string) {
		t.Helper()
		c := r.dial()
		c.send("CONNECT " + host + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
		resp, body := c.reply()
		if resp.StatusCode != status || code != "" && resp.Header.Get("X-Swivel-Error") != code {
			t.Errorf("%s: %s %v %q", host, resp.Status, resp.Header, body)
		}
		_ = c.Close()
	}
	r.pool.RestoreTargets(nil, []pool.TargetRest{{Target: "dead.test:443", Until: time.Now().Add(time.Minute), Rest: time.Minute}}, time.Now())
	for range 3 {
		ask("dead.test:443", 502, "target_down")
		ask(r.addr, 508, "loop")
		ask("a.Denied.test.:443", 403, "target_denied")
		ask("no-port.test", 400, "bad_request")
	}
	p.become(tunnels)
	ask("alive.test:443", 200, "")
	ask("alive.test:443", 429, "rate_limited")
	ask("dead.test:443", 502, "target_down") // the more telling answer
}

// The one try that is due when a target has rested would else go to a client that
// may not make it, and the target stay down for all.
func TestWhoIsOverItsRateDoesNotUseUpTheTryOfATarget(t *testing.T) {
	r := newRig(t)
	r.users, r.rate = []string{"alice:a", "bob:b"}, 0.01
	r.start(r.proxy(tunnels).addr())
	ask := func(credentials string, status int) {
		t.Helper()
		c := r.dial()
		c.send(connectWith(basic(credentials)))
		c.wants(status)
		_ = c.Close()
	}
	ask("alice:a", 200)
	r.logged(1) // its end shows that the target is up
	r.pool.RestoreTargets(nil, []pool.TargetRest{{Target: target, Until: time.Now().Add(time.Millisecond), Rest: time.Minute}}, time.Now())
	eventually(t, "the target has rested", func() bool { return r.pool.TargetRests(target, time.Now()) == 0 })
	ask("alice:a", 429)
	ask("bob:b", 200)
}

func TestAClientHasSoManyConnections(t *testing.T) {
	r := newRig(t)
	r.users = []string{"alice:a", "bob:b"}
	r.most = 2
	r.start(r.proxy(tunnels).addr())
	open := func(credentials string, status int) *testClient {
		t.Helper()
		c := r.dial()
		c.send(connectWith(basic(credentials)))
		c.wants(status)
		return c
	}
	first := open("alice:a", 200)
	open("alice-session-2:a", 200)
	open("alice:a", 503)
	open("bob:b", 200)
	_ = first.Close()
	eventually(t, "the first is gone", func() bool { return r.front.Connections() <= 3 })
	open("alice:a", 200)
	open("alice:a", 503)
}

// Who has not said who it is counts by its address: a few that never ask would
// else take all places.
func TestConnectionsThatAskNothingCountByAddress(t *testing.T) {
	r := newRig(t)
	r.most = 3
	r.start(r.proxy(tunnels).addr())
	var idle []*testClient
	for range 3 {
		idle = append(idle, r.dial())
	}
	resp, body := r.dial().reply()
	if resp.StatusCode != 503 {
		t.Errorf("%s", resp.Status)
	}
	checkRefusal(t, resp, body, "over_capacity")
	_ = idle[0].Close()
	eventually(t, "there is room again", func() bool {
		c := r.dial()
		defer func() { _ = c.Close() }()
		c.send(connectHead(target))
		resp, _ := c.reply()
		return resp.StatusCode == 200
	})
}
