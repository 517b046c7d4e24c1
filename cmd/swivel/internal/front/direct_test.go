package front

import (
	"net/netip"
	"testing"

	"swivel/cmd/swivel/internal/attempts"
	"swivel/pool/upstream/listentest"
)

// TestDirectServesTunnelsAndPlainRequests has a pool of one dead proxy.
func TestDirectServesTunnelsAndPlainRequests(t *testing.T) {
	for _, method := range []string{"CONNECT", "GET"} {
		r := newRig(t)
		r.attempts.OnExhausted = attempts.Direct
		site := r.proxy(func(c *peer) {
			if method == "CONNECT" {
				c.echo()
				return
			}
			c.head()
			c.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
		})
		r.start(listentest.Reserved(t, "127.0.0.1").String() + "\n")
		c := r.dial()
		if method == "CONNECT" {
			c.send(connectHead(site.addr()))
			c.wants(200)
			c.send("ping")
			c.expect("ping")
		} else {
			c.send("GET http://" + site.addr() + "/ HTTP/1.1\r\nHost: " + site.addr() + "\r\n\r\n")
			c.wants(200)
		}
		_ = c.Close()
		line := r.logged(1)
		if got := line.signals(); got != "dial_refused/failure first_byte/success" && got != "dial_refused/failure response/success" {
			t.Errorf("%s: signals %s", method, got)
		}
	}
}

// TestNameThatLeadsToADeniedAddressIsRefused, and not said to be unreachable.
func TestNameThatLeadsToADeniedAddressIsRefused(t *testing.T) {
	r := newRig(t)
	r.attempts.OnExhausted = attempts.Direct
	r.shun = func(netip.AddrPort) bool { return true }
	r.start(listentest.Reserved(t, "127.0.0.1").String() + "\n")
	for _, head := range []string{connectHead("127.0.0.9:443"), "GET http://127.0.0.9/ HTTP/1.1\r\nHost: 127.0.0.9\r\n\r\n"} {
		c := r.dial()
		c.send(head)
		if resp, _ := c.reply(); resp.StatusCode != 403 || resp.Header.Get("X-Swivel-Error") != "target_denied" {
			t.Errorf("%s %v", resp.Status, resp.Header)
		}
	}
}
