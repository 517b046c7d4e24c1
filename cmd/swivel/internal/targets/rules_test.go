package targets

import (
	"net"
	"net/netip"
	"strings"
	"testing"
)

func TestEverySpellingOfAnAddressIsMet(t *testing.T) {
	for _, denied := range []string{"localhost", "127.0.0.1", "127.0.0.0/8", "0x7f.1", "[::ffff:127.0.0.1]", "::ffff:127.0.0.0/104", "127.0.0.1:80", "[::ffff:7f00:1]:1-99"} {
		rules := parsed(t, nil, []string{denied})
		for _, host := range []string{
			"127.0.0.1", "127.0.0.1.", "127.0.0.1..", "127.1", "127.0.1", "2130706433", "0x7f.0.0.1", "0x7F000001", "0177.0.0.1", "0177.0.0.01",
			"127.000.000.001", "017700000001", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:0001]", "[64:ff9b::7f00:1]", "localhost", "LOCALHOST.", "a.b.localhost", "localhost.localdomain", "ip6-loopback",
			"１２７.0.0.1", "127。0。0。1", "127．0．0．1",
			"0.0.0.0", "0", "0x0", "00.0", "[::ffff:0.0.0.0]", "[64:ff9b::]", // connects to this machine
		} {
			if rules.Allow(host + ":80") {
				t.Errorf("%s is denied, and %s is allowed", denied, host)
			}
		}
		for _, host := range []string{"126.0.0.1", "128.1", "[::2]", "localhost.example", "notlocalhost", "127.0.0.1.example", "4294967296", "127.0.0.0.1"} {
			if !rules.Allow(host + ":80") {
				t.Errorf("%s is denied, and %s too", denied, host)
			}
		}
	}
}

func TestNumberThatIsReadInTwoWaysIsBoth(t *testing.T) {
	for _, denied := range []string{"8.0.0.0/8", "10.0.0.0/8"} {
		if parsed(t, nil, []string{denied}).Allow("010.0.0.1:80") {
			t.Errorf("010.0.0.1 is in %s to some", denied)
		}
	}
	if parsed(t, []string{"8.0.0.0/8"}, nil).Allow("010.0.0.1:80") {
		t.Error("allowed although it is 10.0.0.1 to some")
	}
	if !parsed(t, []string{"8.0.0.0/8", "10.0.0.0/8"}, nil).Allow("010.0.0.1:80") {
		t.Error("refused although all that it may be is allowed")
	}
}

func TestNameIsNoSuffixOfAnother(t *testing.T) {
	rules := parsed(t, []string{".trusted.test", "exact.test", "bücher.test"}, []string{"not.trusted.test"})
	for host, want := range map[string]bool{
		"trusted.test": true, "TRUSTED.test.": true, "a.trusted.test": true, "a.b.Trusted.Test": true,
		"nottrusted.test": false, "trusted.test.evil.test": false, "trusted": false, "test": false, "trusted.test.evil": false,
		"exact.test": true, "EXACT.TEST.": true, "a.exact.test": false, "xexact.test": false,
		"not.trusted.test": false, "NOT.trusted.test.": false, "a.not.trusted.test": true,
		"bücher.test": true, "BÜCHER.test": true, "xn--bcher-kva.test": true, "bucher.test": false,
		"192.0.2.1": false, "[::1]": false, "localhost": false,
	} {
		if got := rules.Allow(host + ":443"); got != want {
			t.Errorf("%s: %v", host, got)
		}
	}
}

func TestPortsAreDeniedAndAllowed(t *testing.T) {
	rules := parsed(t, []string{":80", ":443", "example.test:1000-2000", "[2001:db8::]:22", "2001:db8:1::/48"}, []string{":25", "[2001:db8:1::]:80"})
	for target, want := range map[string]bool{
		"a.test:80": true, "192.0.2.1:443": true, "a.test:81": false, "a.test:25": false,
		"example.test:1000": true, "example.test:2000": true, "example.test:2001": false, "example.test:999": false, "other.test:1000": false,
		"[2001:db8::]:22": true, "[2001:db8::]:23": false, "[2001:db8:1::5]:23": true, "[2001:db8:1::5]:25": false, "[2001:db8:1::]:80": false,
		"a.test:00080": true,
		// What is no target is not allowed either.
		"a.test": false, "a.test:": false, "a.test:65616": false, "a.test:x": false, "": false,
	} {
		if got := rules.Allow(target); got != want {
			t.Errorf("%s: %v", target, got)
		}
	}
}

func TestAddressBehindANameIsDenied(t *testing.T) {
	rules := parsed(t, []string{"inside.test"}, []string{"10.0.0.0/8", "::1"})
	for at, want := range map[string]bool{
		"10.1.2.3:80": true, "[::ffff:10.1.2.3]:80": true, "[64:ff9b::10.1.2.3]:80": true, "[::1]:80": true, "[::1%lo]:80": true, "192.0.2.1:80": false,
	} {
		if got := rules.Denies(netip.MustParseAddrPort(at)); got != want {
			t.Errorf("%s: %v", at, got)
		}
	}
}

func TestWithoutRulesEverythingIsAllowed(t *testing.T) {
	var none *Rules
	if !none.Allow("127.0.0.1:22") || none.Denies(netip.MustParseAddrPort("127.0.0.1:22")) || !new(Rules).Allow("x") || !parsed(t, nil, nil).Allow("x") {
		t.Error("refused")
	}
}

func TestEntriesThatCannotBeMetAreNamed(t *testing.T) {
	for _, entry := range []string{
		"", " ", ".", "..", "a..b", ":", ":0", ":65536", ":99-1", ":x", "a:", "a:80:", "a:80-", "a:-80", "*", "*.example.org", "http://a/", "a/8", "a b",
		"10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "::ffff:0.0.0.0/95", "[::1", "[::1]80", "[a]:80", "[10.0.0.0]:80", "2001:db8::x", "1:2:3", "fe80::1%eth0", "256.256.256.256.256:x",
	} {
		for _, list := range []string{"allow", "deny"} {
			allow, deny := []string{"good.test", entry}, []string(nil)
			if list == "deny" {
				allow, deny = deny, allow
			}
			_, err := Parse(allow, deny)
			if err == nil || !strings.HasPrefix(err.Error(), list+`: "`+entry+`": `) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s %q: %v", list, entry, err)
			}
		}
	}
}

func TestPasswordInAnEntryWasQuoted(t *testing.T) {
	for _, entry := range []string{"http://u:s3cret@h/", "u:s3cret@h", "h/x?s3cret"} {
		if _, err := Parse(nil, []string{"good.test", entry}); err == nil || !strings.HasPrefix(err.Error(), "deny: entry 2: want ") && !strings.HasPrefix(err.Error(), "deny: entry 2: the ports ") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", entry, err)
		}
	}
}

func parsed(t *testing.T, allow, deny []string) *Rules {
	t.Helper()
	rules, err := Parse(allow, deny)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// FuzzTargets wants that no spelling of what Go itself takes for an address gets
// past its rule, and that no entry or target does harm.
func FuzzTargets(f *testing.F) {
	for _, seed := range []string{"127.0.0.1", "[::1]", "0x7f.1", ".example.org", "10.0.0.0/8", ":25", "bücher.test:80-90", "1。2"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, entry, host string) {
		rules, err := Parse(nil, []string{entry})
		if err == nil {
			if rules.Empty() {
				t.Fatalf("%q denies nothing", entry)
			}
			rules.Allow(host)
			rules.Allow(net.JoinHostPort(host, "80"))
		}
		addr, err := netip.ParseAddr(host)
		if err != nil || addr.Zone() != "" {
			return
		}
		for _, family := range []string{"0.0.0.0/0", "::/0"} {
			rules, _ := Parse(nil, []string{family})
			if (family == "::/0") == addr.Unmap().Is6() && rules.Allow(net.JoinHostPort(host, "80")) {
				t.Errorf("%s lets %q pass", family, host)
			}
		}
		if again := Fold(Fold(host)); again != Fold(host) {
			t.Errorf("%q becomes %q and %q", host, Fold(host), again)
		}
	})
}

func TestNoAddressInParticularIsThisMachine(t *testing.T) {
	v6 := parsed(t, nil, []string{"::1"})
	if v6.Allow("[::]:80") || v6.Allow("[0:0::0]:80") || !v6.Allow("0.0.0.0:80") || !v6.Allow("[::2]:80") {
		t.Error("::1 is denied, and :: leads to it")
	}
	for _, at := range []string{"0.0.0.0:80", "[::ffff:0.0.0.0]:80", "[64:ff9b::]:80"} {
		if v4 := parsed(t, nil, []string{"127.0.0.0/8"}); !v4.Denies(netip.MustParseAddrPort(at)) {
			t.Errorf("127.0.0.0/8 is denied, and what a name leads to is %s", at)
		}
	}
	if only := parsed(t, []string{"0.0.0.0", "127.0.0.1"}, nil); !only.Allow("0.0.0.0:80") {
		t.Error("both are allowed, and 0.0.0.0 is not")
	}
}
