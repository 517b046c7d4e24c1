package route

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// routes are such as a text can ask for.
func routes(t *rapid.T) Route {
	text := func(name string) string {
		return Fold(rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[A-Za-z0-9_.ü]{1,20}`)).Draw(t, name))
	}
	return Route{
		Country: text("country"), Region: text("region"), City: text("city"), Provider: text("provider"),
		Tag: text("tag"), Proxy: text("proxy"), Session: session(t),
		Protocol: rapid.SampledFrom([]string{"", "http", "https", "socks4", "socks5"}).Draw(t, "protocol"),
		TTL:      time.Duration(rapid.IntRange(0, 7*24*3600).Draw(t, "ttl")) * time.Second,
		Strict:   rapid.Bool().Draw(t, "strict"),
	}
}

// session is an id that no known key ends, or none.
func session(t *rapid.T) string {
	id := rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[!-*./-~-]{1,60}`)).Draw(t, "session")
	for i := range len(id) {
		if separates(id[i]) && id[i] != '-' || id[i] == '-' && beginsPair(id[i+1:]) {
			return "a-b"
		}
	}
	return strings.TrimRight(id, "-") // what follows could make a key of its end
}

func TestWhatIsPrintedIsReadAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := routes(t)
		var r Route
		if err := ParseHeader(want.String(), &r); err != nil || r != want {
			t.Fatalf("field %q: %+v, %v", want, r, err)
		}
		text := "name"
		if want != (Route{}) {
			text += ";" + want.String()
		}
		name, r, err := Parse(text, nil)
		if err != nil || name != "name" || r != want {
			t.Fatalf("%q: %q, %+v, %v", text, name, r, err)
		}
		if r.Constraints() != want.Constraints() {
			t.Fatalf("%+v", r.Constraints())
		}
	})
}

func TestIdsKeepTheirDashesBetweenKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := session(t)
		if id == "" {
			return
		}
		behind := id + "-ttl-5" // which makes a pair of an id that is a key, or ends with one
		for i := range len(id) {
			if (i == 0 || id[i-1] == '-') && beginsPair(behind[i:]) {
				return
			}
		}
		_, r, err := Parse("name-country-us-session-"+behind, nil)
		if want := (Route{Country: "us", Session: id, TTL: 5 * time.Minute}); err != nil || r != want {
			t.Fatalf("%q: %+v, %v", id, r, err)
		}
	})
}

func TestNameWithoutKeysStaysOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z0-9+;,=_-]{0,40}`).Draw(t, "name")
		for i := range len(name) {
			if (i == 0 || separates(name[i-1])) && beginsPair(name[i:]) {
				return
			}
		}
		if got, r, err := Parse(name, nil); got != name || r != (Route{}) || err != nil {
			t.Fatalf("%q: %q, %+v, %v", name, got, r, err)
		}
		if got, r, err := Parse(name+"-country-us", named{name}); name != "" && (got != name || r != (Route{Country: "us"}) || err != nil) {
			t.Fatalf("user %q: %q, %+v, %v", name, got, r, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, d := range dialects {
		f.Add(d.user)
	}
	f.Fuzz(func(t *testing.T, user string) {
		var field Route
		if err := ParseHeader(user, &field); err != nil && field != (Route{}) {
			t.Errorf("field %q: %v, but %+v", user, err, field)
		}
		for _, users := range []Users{nil, named{"user", "user-us", "brd-customer-hl_1"}} {
			name, r, err := Parse(user, users)
			if !strings.HasPrefix(user, name) {
				t.Errorf("%q: name %q", user, name)
			}
			if err != nil {
				if r != (Route{}) || len(err.Error()) > 200 || strings.ContainsFunc(err.Error(), func(c rune) bool { return c < ' ' || c > '~' }) {
					t.Errorf("%q: %+v, %q", user, r, err)
				}
				continue
			}
			var again Route
			if err := ParseHeader(r.String(), &again); err != nil || again != r {
				t.Errorf("%q: %q was read as %+v, %v", user, r, again, err)
			}
		}
	})
}
