package pool

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// genSpec draws what a list can describe, with any bytes in the credentials.
func genSpec() *rapid.Generator[Spec] {
	host := rapid.OneOf(
		rapid.StringMatching(`[a-z0-9_-]{1,20}(\.[a-z0-9-]{1,10}){0,3}\.[a-z]{2,5}`),
		rapid.StringMatching(`(25[0-5]|1[0-9][0-9]|[1-9])(\.(2[0-4][0-9]|[0-9])){3}`),
		rapid.StringMatching(`2001:db8:[1-9a-f]::[1-9a-f][0-9a-f]{0,3}`),
	)
	return rapid.Custom(func(t *rapid.T) Spec {
		s := Spec{
			Scheme: Scheme(rapid.IntRange(int(HTTP), int(SOCKS5H)).Draw(t, "scheme")),
			Host:   host.Draw(t, "host"),
			Port:   rapid.Uint16Min(1).Draw(t, "port"),
		}
		low := byte(0)
		if s.Scheme.canonical() == SOCKS4 {
			low = 1
		}
		text := rapid.SliceOfN(rapid.ByteMin(low), 0, 20)
		s.User, s.Password = string(text.Draw(t, "user")), Secret(text.Draw(t, "password"))
		s.HasAuth = s.User != "" || s.Password != ""
		return s
	})
}

func TestPrintedURIParsesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genSpec().Draw(t, "spec")
		specs, err := ParseLine(s.Identity(), testEnv)
		if err != nil || len(specs) != 1 {
			t.Fatalf("%s: %d specs, %v", s.Identity(), len(specs), err)
		}
		back := specs[0]
		if back.identity() != s.identity() || back.HasAuth != s.HasAuth || back.Identity() != s.Identity() {
			t.Fatalf("%s became %s", s.Identity(), back.Identity())
		}
	})
}

func TestVendorFormTakesCredentialsAsTheyAre(t *testing.T) {
	user := rapid.StringMatching(`[!-9;-~]{1,20}`) // all but blanks and the colon
	password := rapid.StringMatching(`[!-~]{1,20}`)
	rapid.Check(t, func(t *rapid.T) {
		u, p := user.Draw(t, "user"), password.Draw(t, "password")
		specs, err := ParseLine(fmt.Sprintf("192.0.2.1:8080:%s:%s", u, p), nil)
		if err != nil || len(specs) != 1 {
			t.Fatalf("%d specs, %v", len(specs), err)
		}
		if s := specs[0]; s.Host != "192.0.2.1" || s.User != u || s.Password.Reveal() != p {
			t.Fatalf("%s %q %q", s.Address(), s.User, s.Password.Reveal())
		}
	})
}
