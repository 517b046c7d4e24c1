package pool

import (
	"slices"
	"strings"
	"testing"
	"time"

	"swivel/breaker"
)

func TestEveryKeyIsSet(t *testing.T) {
	s := mustLine(t, `https://u:p@192.0.2.1:8443  weight=2.5 provider=acme region=eu country=DE city="Bad Homburg"`+
		"\ttag=fast tag=\"a # b\" name=\"Nr. 1\" max_in_flight=50 rate=0.5 sni=Proxy.Example ca=/etc/ca.pem"+
		` insecure=true rotating=true consecutive_failures=3 open_timeout=2m # tag=comment`)
	want := Spec{
		Scheme: HTTPS, Host: "192.0.2.1", Port: 8443, User: "u", Password: "p", HasAuth: true,
		Weight: 2.5, Name: "Nr. 1", Provider: "acme", Region: "eu", Country: "DE", City: "Bad Homburg",
		MaxInFlight: 50, Rate: 0.5, SNI: "proxy.example", CA: "/etc/ca.pem", Insecure: true,
		Rotating: true, RotatingSet: true,
	}
	if tags := []string{"fast", "a # b"}; !slices.Equal(s.Tags, tags) {
		t.Errorf("tags %q, want %q", s.Tags, tags)
	}
	limits := breaker.Settings{}.With(s.Breaker)
	if limits.ConsecutiveFailures != 3 || limits.OpenTimeout != 2*time.Minute {
		t.Errorf("breaker %+v", limits)
	}
	for name, same := range map[string]bool{
		"address": s.Address() == want.Address(), "auth": s.identity() == want.identity() && s.HasAuth,
		"weight": s.Weight == want.Weight, "name": s.Name == want.Name, "provider": s.Provider == want.Provider,
		"region": s.Region == want.Region, "country": s.Country == want.Country, "city": s.City == want.City,
		"max_in_flight": s.MaxInFlight == want.MaxInFlight, "rate": s.Rate == want.Rate, "sni": s.SNI == want.SNI,
		"ca": s.CA == want.CA, "insecure": s.Insecure, "rotating": s.Rotating && s.RotatingSet,
	} {
		if !same {
			t.Errorf("%s differs", name)
		}
	}
}

func TestDefaults(t *testing.T) {
	s := mustLine(t, "proxy.example:80")
	if s.Weight != 1 || s.MaxInFlight != 0 || s.Rate != 0 || s.Insecure || s.Rotating || s.RotatingSet || s.Tags != nil {
		t.Errorf("weight %v, limits %v %v, flags %v %v %v, tags %v",
			s.Weight, s.MaxInFlight, s.Rate, s.Insecure, s.Rotating, s.RotatingSet, s.Tags)
	}
	if s.Breaker != (breaker.Overrides{}) {
		t.Error("breaker overridden")
	}
}

func TestFlagsStandAloneOrWithAValue(t *testing.T) {
	for value, want := range map[string]bool{
		"": true, "=true": true, "=TRUE": true, "=tRue": true, "=1": true, "=false": false, "=False": false, "=0": false,
	} {
		for _, address := range []string{"h:1", "https h 1", "https h 1 u p"} {
			s := mustLine(t, address+" rotating"+value+" weight=1 insecure"+value)
			if s.Rotating != want || !s.RotatingSet || s.Insecure != want {
				t.Errorf("%s, %q: rotating %v, set %v, insecure %v", address, value, s.Rotating, s.RotatingSet, s.Insecure)
			}
		}
	}
}

func TestWeightZeroDrains(t *testing.T) {
	for _, weight := range []string{"0", "0.0", "-0"} {
		if s := mustLine(t, "h:1 weight="+weight); s.Weight != 0 || 1/s.Weight < 0 {
			t.Errorf("weight=%s: %v", weight, s.Weight)
		}
	}
}

func TestRefusedKeys(t *testing.T) {
	for _, c := range []struct{ name, attributes, reason string }{
		{"unknown key", "colour=red", "unknown key; the README has all"},
		{"key in upper case", "Weight=1", `unknown key "Weight"; is weight meant?`},
		{"key with a slip", "wieght=1", `unknown key "wieght"; is weight meant?`},
		{"breaker's key with a slip", "open_timout=1", `unknown key "open_timout"; is open_timeout meant?`},
		{"end of a password with a blank", "s3cret=", "unknown key; the README has all"},
		{"two letters of a password with a blank", "s3=x", "unknown key; the README has all"},
		{"word without a value", "fast", "no key=value"},
		{"value without a key", "=1", "no key=value"},
		{"comment that is none", "// note", "no key=value"},
		{"key twice", "weight=1 weight=2", `"weight" stands twice`},
		{"breaker's key twice", "open_timeout=1s open_timeout=2s", `"open_timeout" stands twice`},
		{"flag twice", "rotating rotating=false", `"rotating" stands twice`},
		{"negative weight", "weight=-1", "weight: not a number"},
		{"weight NaN", "weight=NaN", "weight: not a number"},
		{"weight infinite", "weight=+Inf", "weight: not a number"},
		{"weight that overflows", "weight=1e999", "weight: not a number"},
		{"weight that makes sums overflow", "weight=1e308", "weight: not a number"},
		{"weight no number", "weight=heavy", "weight: not a number"},
		{"weight empty", "weight=", "weight: not a number"},
		{"rate negative", "rate=-1", "rate: not a number"},
		{"rate infinite", "rate=Inf", "rate: not a number"},
		{"max_in_flight negative", "max_in_flight=-1", "max_in_flight: not a whole"},
		{"max_in_flight of half an exchange", "max_in_flight=1.5", "max_in_flight: not a whole"},
		{"max_in_flight too large", "max_in_flight=9999999999", "max_in_flight: not a whole"},
		{"insecure empty", "insecure=", "insecure: neither true nor false"},
		{"insecure unclear", "insecure=yes", "insecure: neither true nor false"},
		{"rotating unclear", "rotating=2", "rotating: neither true nor false"},
		{"provider empty", "provider=", "provider: no value"},
		{"name blank", `name=" "`, "name: no value"},
		{"name not UTF-8", "name=a\xff", "name: not UTF-8"},
		{"tag not UTF-8", "tag=ok tag=\xc3", "tag: not UTF-8"},
		{"name with a control character", "name=a\u0085b", "name: not UTF-8 text without control"},
		{"sni no name", "sni=a/b", "sni: the host is neither"},
		{"quote left open", `name="a b`, "quoted value does not end"},
		{"text behind the quote", `name="a"b`, "goes on behind its quote"},
		{"breaker's value", "open_timeout=soon", "open_timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			specs, err := ParseLine("http://user1:s3cret@h.example:1 "+c.attributes, nil)
			if err == nil {
				t.Fatalf("accepted as %#v", specs)
			}
			if !strings.Contains(err.Error(), c.reason) || strings.Contains(err.Error(), "s3c") {
				t.Errorf("%q, want a reason with %q", err, c.reason)
			}
			if len(err.Error()) > 160 { // there may be one for each line
				t.Errorf("nobody reads %d bytes: %q", len(err.Error()), err)
			}
		})
	}
}
