package front

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"swivel/pool/upstream/leaktest"
)

func TestHeadsOutOfBoundsAreRefusedWithAReason(t *testing.T) {
	for _, test := range []struct {
		name, send string
		status     int
	}{
		{"long target", "CONNECT " + strings.Repeat("a", 5000) + ":1 HTTP/1.1\r\n\r\n", 414},
		{"long line without end", "CONNECT " + strings.Repeat("a", 9000), 414},
		{"large head", connectHead(target)[:40] + "\r\nX-Large: " + strings.Repeat("a", 9000) + "\r\n\r\n", 431},
		{"many fields", "CONNECT a:1 HTTP/1.1\r\n" + strings.Repeat("A: b\r\n", 800) + "\r\n", 431},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400},
		{"no version", "CONNECT example.test:443\r\n\r\n", 400},
		{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
		{"bare LF", "CONNECT example.test:443 HTTP/1.1\nHost: x\n\n", 400},
		{"folded field", "CONNECT example.test:443 HTTP/1.1\r\nA: b\r\n c\r\n\r\n", 400},
		{"garbage", "\x00\x01\x02\r\n\r\n", 400},
		{"many blank lines", strings.Repeat("\r\n", 20) + connectHead(target), 400},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			r.settings.HeaderBytes = 4 << 10
			p := r.proxy(tunnels)
			r.start(p.addr())
			c := r.dial()
			c.send(test.send)
			resp, body := c.reply()
			if resp.StatusCode != test.status || !strings.HasPrefix(body, "swivel: ") || resp.Header.Get("X-Request-Id") == "" {
				t.Errorf("%s %v %q", resp.Status, resp.Header, body)
			}
			c.expectEnd()
			if all, _ := p.accepted(); all > 0 {
				t.Error("a proxy was asked")
			}
		})
	}
}

func TestHeadThatNeverEndsIsTimedOut(t *testing.T) {
	for name, behind := range map[string]string{"first": "", "second": "GET http://example.test/ HTTP/1.1\r\nHost: example.test\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.settings.HeaderTimeout = 300 * time.Millisecond // for the first byte too, on a busy machine
			r.start(r.proxy(answers("HTTP/1.1 200 OK\r\nDate: now\r\nServer: o\r\nContent-Length: 2\r\n\r\nok")).addr())
			c := r.dial()
			if behind != "" {
				c.send(behind)
				c.skipResponse("ok")
			}
			stop := make(chan struct{})
			defer close(stop)
			go drip(c.wire, "CONNECT example.test:443 HTTP/1.1\r\nX-Slow: "+strings.Repeat("x", 10000), stop)
			if resp, _ := c.reply(); resp.StatusCode != 408 {
				t.Errorf("status %s", resp.Status)
			}
			c.expectEnd()
		})
	}
}

// drip sends text byte by byte, never pausing for as long as a timeout per
// read would be.
func drip(w io.Writer, text string, stop chan struct{}) {
	for i := range len(text) {
		select {
		case <-stop:
			return
		case <-time.After(5 * time.Millisecond):
		}
		if _, err := io.WriteString(w, text[i:i+1]); err != nil {
			return
		}
	}
}

func TestConnectionThatAsksNothingIsClosed(t *testing.T) {
	r := newRig(t)
	r.settings.HeaderTimeout = 300 * time.Millisecond // also for the handshake, where TLS is spoken
	r.start(r.closedPort())
	for _, send := range []string{"", "\r\n", "\r"} {
		c := r.dial()
		c.send(send)
		c.expectEnd()
	}
}

func TestFullFrontTellsSoAndComesBack(t *testing.T) {
	r := newRig(t)
	r.settings.Connections = 3
	r.start(r.proxy(tunnels).addr())
	var open []*testClient
	for range 3 {
		open = append(open, r.connect(target))
	}
	// More than there is room for, and in no hurry to leave.
	for i := range 20 {
		c := r.dial()
		if i%5 != 0 { // else it waits to see what it is told
			c.send(connectHead(target))
		}
		resp, body := c.reply()
		if resp.StatusCode != 503 || resp.Header.Get("Retry-After") != "1" {
			t.Fatalf("%s %v", resp.Status, resp.Header)
		}
		checkRefusal(t, resp, body, "over_capacity")
	}
	for _, c := range open {
		_ = c.Close()
	}
	// The refused are still there, but take no place.
	eventually(t, "the tunnels are gone", func() bool { return r.registry.Len() == 0 })
	c := r.connect(target)
	c.send("x")
	c.expect("x")
}

// Whoever comes when the last descriptor is taken waits in the queue of the
// system and is told nothing, and a loop of two swivels never ends.
func TestClientsAreSentAwayBeforeDescriptorsRunOut(t *testing.T) {
	r := newRig(t)
	used := leaktest.OpenFiles(t)
	r.settings.Files = used + 100
	r.start(r.proxy(tunnels).addr())
	var open []*testClient
	refused := 0
	for refused < 5 && len(open) < 100 {
		c := r.dial()
		c.send(connectHead(target))
		resp, body := c.reply()
		if resp.StatusCode == 200 {
			open = append(open, c)
			continue
		}
		refused++
		checkRefusal(t, resp, body, "over_capacity")
	}
	// The test holds the other ends of all these connections.
	if n := len(open); refused < 5 || n < 8 || n > 40 {
		t.Errorf("%d were served, %d sent away", n, refused)
	}
	for _, c := range open {
		_ = c.Close()
	}
	eventually(t, "there is room again", func() bool {
		c := r.dial()
		defer c.Close()
		c.send(connectHead(target))
		resp, _ := c.reply()
		return resp.StatusCode == 200
	})
	if n := strings.Count(r.log.String(), "few descriptors are left"); n != 1 {
		t.Errorf("the log says it %d times", n)
	}
}

func TestBadLoginsHarmNothing(t *testing.T) {
	r := newRig(t)
	p := r.proxy(tunnels)
	r.start(p.addr())
	logins := []string{
		"Proxy-Authorization: Basic !!!\r\n", "Proxy-Authorization: Basic\r\n", "Proxy-Authorization:\r\n",
		"Proxy-Authorization: Basic dTpw\r\nProxy-Authorization: Basic eDp5\r\n", "Proxy-Authorization: Digest a=b\r\n",
	}
	for i := range 1000 {
		c := r.dial()
		c.send("CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n" + logins[i%len(logins)] + "\r\n")
		if i%2 == 0 {
			c.reset()
			continue
		}
		c.wants(200)
		c.send("x")
		c.expect("x")
		_ = c.Close()
	}
	if !r.untouched(0) {
		t.Errorf("%+v", r.snapshot(0))
	}
}

func TestDescriptorsOfIdleTunnels(t *testing.T) {
	const tunnelCount = 1000
	r := newRig(t)
	r.start(r.proxy(tunnels).addr())
	before := leaktest.OpenFiles(t)
	for range tunnelCount {
		c := r.connect(target)
		c.send("x")
		c.expect("x")
	}
	// Two of each tunnel's are the test's own: the client's and the proxy's.
	per := float64(leaktest.OpenFiles(t)-before)/tunnelCount - 2
	if per > 2.1 {
		t.Errorf("%.2f descriptors per tunnel", per)
	}
}

func TestRefusedAttemptsLeaveNoDescriptors(t *testing.T) {
	loops := 1000
	if testing.Short() {
		loops = 100
	}
	r := newRig(t)
	page := "HTTP/1.1 404 No\r\nContent-Length: 1048576\r\n\r\n" + strings.Repeat("x", 1<<20)
	r.options.Breaker.ConsecutiveFailures = 1000 // stays in use
	bad, good := r.proxy(answers(page)), r.proxy(tunnels)
	r.start(bad.addr()+preferred, good.addr())
	before := leaktest.OpenFiles(t)
	for i := range loops {
		c := r.connect(fmt.Sprintf("t%d.test:443", i))
		_ = c.Close()
	}
	eventually(t, "the proxy sees its connections closed", func() bool { _, open := bad.accepted(); return open == 0 })
	eventually(t, "the tunnels are gone", func() bool { return r.registry.Len() == 0 })
	eventually(t, "the descriptors are back", func() bool { return leaktest.OpenFiles(t) <= before })
}
