package front

import (
	"net"
	"net/netip"
	"os"
	"testing"

	"swivel/cmd/swivel/internal/targets"
)

func TestSelfHoldsItsOwnAddressHoweverItIsWritten(t *testing.T) {
	hostname, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	loopback := Self{netip.MustParseAddrPort("127.0.0.1:8484"), netip.MustParseAddrPort("127.0.0.1:8485")}
	loopback6 := Self{netip.MustParseAddrPort("[::1]:8484")}
	everywhere := Self{netip.MustParseAddrPort("[::]:8484")}
	everywhere4 := Self{netip.MustParseAddrPort("0.0.0.0:8484")}
	remote := Self{netip.MustParseAddrPort("192.0.2.1:8484")}
	for _, test := range []struct {
		name   string
		self   Self
		target string
		want   bool
	}{
		{"literal", loopback, "127.0.0.1:8484", true},
		{"second listener", loopback, "127.0.0.1:8485", true},
		{"another port", loopback, "127.0.0.1:8486", false},
		{"leading zeros", loopback, "127.0.0.1:08484", true},
		{"localhost", loopback, "localhost:8484", true},
		{"LOCALHOST.", loopback, "LOCALHOST.:8484", true},
		{"name below localhost", loopback, "a.localhost:8484", true},
		{"name in the hosts file of Debian", loopback, "ip6-Localhost.:8484", true},
		{"name in the hosts file of Red Hat", loopback, "localhost.localdomain:8484", true},
		{"name with localhost in it", loopback, "notlocalhost:8484", false},
		{"own name", loopback, hostname + ":8484", true},
		{"own name with a dot", loopback, hostname + ".:8484", true},
		{"literal with a dot", loopback, "127.0.0.1.:8484", true},
		{"unspecified", loopback, "0.0.0.0:8484", true},
		{"unspecified v6", loopback, "[::]:8484", true},
		{"mapped", loopback, "[::ffff:127.0.0.1]:8484", true},
		{"mapped in hex", loopback, "[::ffff:7f00:1]:8484", true},
		{"short form", loopback, "127.1:8484", true},
		{"one number", loopback, "2130706433:8484", true},
		{"hex", loopback, "0x7f.0.0.1:8484", true},
		{"one hex number", loopback, "0x7f000001:8484", true},
		{"octal", loopback, "0177.0.0.01:8484", true},
		{"zero", loopback, "0:8484", true},
		{"a number that is no address", loopback, "4294967296:8484", false},
		{"not a number", loopback, "127.0.0b1.1:8484", false},
		{"v6 literal of a v4 listener", loopback, "[::1]:8484", false},
		{"another host", loopback, "192.0.2.1:8484", false},
		{"a name", loopback, "example.test:8484", false},
		{"v6", loopback6, "[::1]:8484", true},
		{"v6 written long", loopback6, "[0:0:0:0:0:0:0:1]:8484", true},
		{"localhost of v6", loopback6, "localhost:8484", true},
		{"everywhere: loopback", everywhere, "127.0.0.1:8484", true},
		{"everywhere: all of 127/8", everywhere, "127.9.8.7:8484", true},
		{"everywhere: v6", everywhere, "[::1]:8484", true},
		{"everywhere: another host", everywhere, "192.0.2.77:8484", false},
		{"every IPv4 address: loopback", everywhere4, "127.0.0.1:8484", true},
		{"every IPv4 address: mapped", everywhere4, "[::ffff:127.0.0.1]:8484", true},
		{"every IPv4 address: localhost", everywhere4, "localhost:8484", true},
		{"every IPv4 address: itself", everywhere4, "0.0.0.0:8484", true},
		{"not loopback", remote, "192.0.2.1:8484", true},
		{"not loopback: localhost", remote, "localhost:8484", false},
		{"no port", loopback, "127.0.0.1", false},
	} {
		if got := test.self.Holds(test.target); got != test.want {
			t.Errorf("%s: Holds(%s) is %v", test.name, test.target, got)
		}
	}
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		own := netip.MustParsePrefix(a.String()).Addr()
		if target := netip.AddrPortFrom(own, 8484).String(); !everywhere.Holds(target) {
			t.Errorf("%s is an address of this machine", target)
		}
	}
}

// denying are rules against targets.
func denying(t *testing.T, entries ...string) *targets.Rules {
	t.Helper()
	rules, err := targets.Parse(nil, entries)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func TestTargetsThatAreNotAllowedAreRefusedInEveryForm(t *testing.T) {
	r := newRig(t)
	p := r.proxy(tunnels)
	r.start(p.addr())
	r.front.Targets = denying(t, "169.254.0.0/16", ".inside.test")
	for _, host := range []string{"169.254.169.254", "0xa9fea9fe", "2852039166", "[::ffff:169.254.169.254]", "0251.254.169.254", "a.INSIDE.test."} {
		at := host + ":80"
		c := r.dial()
		c.send(connectHead(at))
		resp, _ := c.reply()
		if resp.StatusCode != 403 || resp.Header.Get("X-Swivel-Error") != "target_denied" {
			t.Errorf("CONNECT %s: %s", at, resp.Status)
		}
		c = r.dial()
		c.send("GET http://" + host + "/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n")
		if resp, _ := c.reply(); resp.StatusCode != 403 {
			t.Errorf("GET %s: %s", at, resp.Status)
		}
	}
	c := r.dial()
	c.send("\x05\x01\x00\x05\x01\x00\x01\xa9\xfe\xa9\xfe\x00\x50")
	c.expect("\x05\x00\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00")
	if all, _ := p.accepted(); all != 0 {
		t.Errorf("the proxy saw %d connections", all)
	}
	c = r.dial()
	c.send(connectHead("inside.test.example:80"))
	c.wants(200)
}

func TestRequestsToSwivelItselfAreRefused(t *testing.T) {
	r := newRig(t)
	p := r.proxy(tunnels)
	r.start(p.addr())
	own := netip.MustParseAddrPort(r.addr)
	r.front.Self = Self{own}
	for _, host := range []string{"127.0.0.1", "localhost", "0.0.0.0", "127.1", "[::ffff:127.0.0.1]"} {
		at := host + r.addr[len("127.0.0.1"):]
		c := r.dial()
		c.send(connectHead(at))
		resp, _ := c.reply()
		if resp.StatusCode != 508 || resp.Header.Get("X-Swivel-Error") != "loop" {
			t.Errorf("CONNECT %s: %s", at, resp.Status)
		}
		c = r.dial()
		c.send("GET http://" + at + "/ HTTP/1.1\r\nHost: " + at + "\r\n\r\n")
		if resp, _ := c.reply(); resp.StatusCode != 508 {
			t.Errorf("GET %s: %s", at, resp.Status)
		}
	}
	if all, _ := p.accepted(); all != 0 {
		t.Errorf("the proxy saw %d connections", all)
	}
}
