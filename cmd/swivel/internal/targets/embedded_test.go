package targets

import (
	"net/netip"
	"testing"
)

func TestAddressInsideAnotherPassedTheRuleForIt(t *testing.T) {
	rules := parsed(t, nil, []string{"10.0.0.0/8"})
	for addr, denied := range map[string]bool{
		"::10.0.0.1":             true, // IPv4-compatible
		"::a00:1":                true,
		"2002:a00:1::":           true, // 6to4
		"2002:a00:1:2::3":        true,
		"::ffff:0:10.0.0.1":      true, // IPv4-translated
		"64:ff9b::10.0.0.1":      true, // translated
		"64:ff9b:1::10.0.0.1":    true, // and by a network's own translator
		"64:ff9b:1:2:3:4:a00:1":  true,
		"64:ff9b:1:a00:0:100::":  true, // with 48 bits
		"64:ff9b:1:a:0:1::":      true, // with 56
		"64:ff9b:1:2:a:0:100::":  true, // with 64
		"::10.0.0.1%lo":          true,
		"::11.0.0.1":             false,
		"2002:b00:1::":           false,
		"2002:102:304::10.0.0.1": false, // that is the host's own part
		"2003:a00:1::":           false,
		"::ffff:0:11.0.0.1":      false,
		"::ffff:1:10.0.0.1":      false,
		"64:ff9b:1::11.0.0.1":    false,
		"64:ff9b:2::10.0.0.1":    false,
		"2001:db8::10.0.0.1":     false,
	} {
		if got := !rules.Allow("[" + addr + "]:80"); got != denied {
			t.Errorf("target %s: denied %v", addr, got)
		}
		if got := rules.Denies(netip.AddrPortFrom(netip.MustParseAddr(addr), 80)); got != denied {
			t.Errorf("behind a name, %s: denied %v", addr, got)
		}
	}
}

func TestLoopbackIsNoAddressOfIPv4(t *testing.T) {
	for denied, want := range map[string][2]bool{ // whether ::1 and :: are allowed
		"0.0.0.0/8": {true, true}, "127.0.0.0/8": {true, true}, "::1": {false, false},
	} {
		rules := parsed(t, nil, []string{denied})
		if got := [2]bool{rules.Allow("[::1]:80"), rules.Allow("[::]:80")}; got != want {
			t.Errorf("%s is denied, ::1 and :: are allowed: %v", denied, got)
		}
	}
}
