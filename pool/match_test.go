package pool

import (
	"testing"

	"swivel/pool/route"
)

func TestWhoFitsWhatIsAskedFor(t *testing.T) {
	const plain = `socks5h://u:p@gw.example:1080 name=R1 provider=Acme region=us-east country=DE city="Bad Homburg" tag=fast tag=Static`
	const template = "http://u-{country}:p-{city}@gw.example:7777 country=fr"
	const bare = "gw.example:80"
	for _, c := range []struct {
		line  string
		asked route.Constraints
		want  bool
	}{
		{plain, route.Constraints{}, true},
		{plain, route.Constraints{Country: "de"}, true},
		{plain, route.Constraints{Country: "us"}, false},
		{plain, route.Constraints{City: "bad_homburg", Region: "us-east", Provider: "acme"}, true},
		{plain, route.Constraints{Country: "de", Region: "us-west"}, false},
		{plain, route.Constraints{Tag: "static"}, true},
		{plain, route.Constraints{Tag: "stat"}, false},
		{plain, route.Constraints{Protocol: "socks5"}, true},
		{plain, route.Constraints{Protocol: "http"}, false},
		{plain, route.Constraints{Proxy: "r1"}, true},
		{plain, route.Constraints{Proxy: "gw.example:1080"}, false},
		{template, route.Constraints{Country: "us", City: "nowhere"}, true},
		{template, route.Constraints{Country: "us", Region: "ca"}, false},
		{template, route.Constraints{Protocol: "http", Proxy: "gw.example:7777"}, true},
		{bare, route.Constraints{}, true},
		{bare, route.Constraints{Country: "us"}, false}, // nobody knows where it leaves from
		{bare, route.Constraints{Protocol: "https"}, false},
	} {
		specs, err := ParseLine(c.line, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := specs[0].Matches(c.asked); got != c.want {
			t.Errorf("%s: %+v %v", c.line, c.asked, got)
		}
	}
}

// What a client writes and what a list writes meet in one form.
func TestUserNamesMeetTheList(t *testing.T) {
	specs, err := ParseLine(`socks4a://gw.example:1080 country=DE city="Bad Homburg" tag=Fast`, nil)
	if err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string]bool{
		"x-country-de-city-bad_homburg":   true,
		"x-cc-De-groups-FAST":             true,
		"x+city=Bad Homburg":              true,
		"x-protocol-socks4":               true,
		"x-country-de-city-berlin":        false,
		"x-country-de-protocol-socks5":    false,
		"x-country-de-session-country-us": false,
	} {
		_, r, err := route.Parse(user, nil)
		if got := err == nil && specs[0].Matches(r.Constraints()); got != want {
			t.Errorf("%s: %v, %v", user, got, err)
		}
	}
}
