package pool

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"swivel/pool/route"
)

// gateway parses a line of credentials and keys in front of a gateway.
func gateway(t *testing.T, credentials, keys string) *Spec {
	t.Helper()
	specs, err := ParseLine("http://"+credentials+"@gw.example:7777 "+keys, testEnv)
	if err != nil || len(specs) != 1 {
		t.Fatalf("%s: %v, %v", credentials, specs, err)
	}
	return specs[0]
}

func TestPlaceholdersAreFilled(t *testing.T) {
	us := route.Route{Country: "us", Region: "us-east", City: "san_jose", Session: "Ab12"}
	for _, c := range []struct {
		template, keys string
		route          route.Route
		want           string
	}{
		{"user:pw", "", us, "user:pw"},
		{"user-session-{session}:pw", "", us, "user-session-Ab12:pw"},
		{"user-session-{session}:pw", "", route.Route{}, "user-session-rnd:pw"},
		{"user-{random}:pw-{random}", "", us, "user-rnd:pw-rnd"},
		{"user:pw_country-{country}_session-{session}", "", us, "user:pw_country-us_session-Ab12"},
		{"u-country-{country}-st-{region}-city-{city}:pw", "", us, "u-country-us-st-us_east-city-san_jose:pw"},
		// What nobody asks for is left out with its key, or is the line's.
		{"user-country-{country}-session-{session}:pw", "", route.Route{Session: "a"}, "user-session-a:pw"},
		{"user-cc-{country}-city-{city}:pw", "", route.Route{Country: "de"}, "user-cc-de:pw"},
		{"user-cc-{country}:pw", "", route.Route{}, "user:pw"},
		{"user;country={country};session={session}:pw", "", route.Route{}, "user;session=rnd:pw"},
		{"country-{country}-sid-{session}:pw", "", route.Route{}, "sid-rnd:pw"},
		{"user:pw_country-{country}", "", route.Route{}, "user:pw"},
		{"user-res-{country}-sid-{session}:pw", "", route.Route{}, "user-res-sid-rnd:pw"},
		{"user-res-{country}-sid-{session}:pw", "country=any", route.Route{}, "user-res-any-sid-rnd:pw"},
		{"user-cc-{country}:pw", "country=DE", route.Route{}, "user-cc-de:pw"},
		{"user-cc-{country}:pw", "country=DE", route.Route{Country: "fr"}, "user-cc-fr:pw"},
		{"user{country}:pw", "", route.Route{}, "user:pw"},
		{"{country}:pw", "", route.Route{}, ":pw"},
		// What is no placeholder stands for itself.
		{"user{x}{Session}{-session}{}{:pw}{{", "", us, "user{x}{Session}{-session}{}{:pw}{{"},
		{"u{{session}}:p{{{{city}}", "", us, "u{session}:p{{{city}"},
		{"u-{{session}:p", "", us, "u-{Ab12:p"},
	} {
		s := gateway(t, c.template, c.keys)
		filled := s.For(c.route, "rnd")
		if got := filled.User + ":" + filled.Password.Reveal(); got != c.want || !filled.HasAuth {
			t.Errorf("%s became %s, want %s", c.template, got, c.want)
		}
		if s.Identity() != gateway(t, c.template, "").Identity() {
			t.Errorf("%s: filling changed who it is", c.template)
		}
	}
}

func TestWhatIsNoTemplateIsNotCopied(t *testing.T) {
	for _, credentials := range []string{"user:pw", "u{x}:{", "{sessions}:{rand}"} {
		if s := gateway(t, credentials, ""); s.For(route.Route{Session: "a"}, "r") != s || s.Templated() {
			t.Errorf("%s was taken for a template", credentials)
		}
	}
	if s := gateway(t, "u{{session}}:p", ""); s.Placeholders() != nil || s.Rotating || s.For(route.Route{}, "r").User != "u{session}" {
		t.Error("an escaped word was taken for a placeholder")
	}
}

func TestGatewayRotatesUnlessASessionHoldsIt(t *testing.T) {
	session := route.Route{Session: "a"}
	for _, c := range []struct {
		credentials, keys           string
		line, filled, filledSession bool // Rotating
	}{
		{"u-{session}:p", "", true, true, false},
		{"u-{random}:p", "", true, true, true},
		{"u-{session}-{random}:p", "", true, true, true},
		{"u-{country}:p", "", false, false, false},
		{"u-{session}:p", "rotating=false", false, false, false},
		{"u-{session}:p", "rotating", true, true, true},
		{"u:p", "rotating", true, true, true},
	} {
		s := gateway(t, c.credentials, c.keys)
		if s.Rotating != c.line || s.For(route.Route{}, "r").Rotating != c.filled || s.For(session, "r").Rotating != c.filledSession {
			t.Errorf("%s %s: %v, filled %v, with a session %v", c.credentials, c.keys, s.Rotating,
				s.For(route.Route{}, "r").Rotating, s.For(session, "r").Rotating)
		}
	}
}

// A vendor reads the country out of the user: who names his session
// a-country-de must not leave from there.
func TestValuesDoNotBreakOutOfTheTemplate(t *testing.T) {
	const word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	s := gateway(t, "u-session-{session}-city-{city}-x:p", "")
	seen := map[string]string{}
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringMatching(`[!-~]{1,128}`).Draw(t, "session")
		city := rapid.StringMatching(`[ -~]{1,64}`).Draw(t, "city")
		filled := s.For(route.Route{Session: id, City: city}, "")
		rest, ok := strings.CutPrefix(filled.User, "u-session-")
		session, place, found := strings.Cut(strings.TrimSuffix(rest, "-x"), "-city-")
		if !ok || !found || strings.Trim(session, word) != "" || strings.Trim(place, word+"_") != "" || len(session) > 32 {
			t.Fatalf("%q, %q: %q", id, city, filled.User)
		}
		if other, ok := seen[session]; ok && other != id {
			t.Fatalf("%q and %q are one session", id, other)
		}
		seen[session] = id
	})
}

// TestTemplateThatMayFitSOCKS5IsTaken: three places and a session may take more than
// 255 bytes, but what clients ask for hardly ever does.
func TestTemplateThatMayFitSOCKS5IsTaken(t *testing.T) {
	for user, fits := range map[string]bool{
		strings.Repeat("u", 255):                true,
		strings.Repeat("u", 253) + "-{session}": true,
		strings.Repeat("u", 254) + "-{session}": false,
		strings.Repeat("u", 255) + "{country}":  true,
		strings.Repeat("u", 256) + "{country}":  false,
	} {
		_, err := ParseLine("socks5://"+user+":p@h:1", nil)
		if (err == nil) != fits {
			t.Errorf("%d bytes of template: %v", len(user), err)
		}
	}
}
