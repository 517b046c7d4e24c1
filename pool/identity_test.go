package pool

import (
	"regexp"
	"strings"
	"testing"
)

func TestSpellingsOfOneProxyShareAnIdentity(t *testing.T) {
	for want, lines := range map[string][]string{
		"http://proxy.example:80": {
			"proxy.example:80", "http://proxy.example", "http://PROXY.example:80/", "HTTP://proxy.example.", "http proxy.example 080",
			"http://:@proxy.example", "proxy.example:80::",
		},
		"socks5://u:p%40@10.0.0.1:1080": {
			"socks5://u:p@@10.0.0.1", "socks://u:p%40@10.0.0.1:1080", "socks5h://10.0.0.1:1080:u:p@", "socks5 10.0.0.1 1080 u p@",
		},
		"socks4://u:@10.0.0.1:1080":       {"socks4://u@10.0.0.1", "socks4a://u:@10.0.0.1:1080"},
		"https://u:%24%7BX%7D@[::1]:8443": {"https://u:%24{X}@[0:0::1]:8443", "https://[::1]:8443:u:%24{X}"},
	} {
		for _, line := range lines {
			s := mustLine(t, line)
			if line == "https://[::1]:8443:u:%24{X}" {
				// The colon form does not decode: another password, another proxy.
				if s.Identity() == want {
					t.Errorf("%s: %s", line, want)
				}
				continue
			}
			if got := s.Identity(); got != want {
				t.Errorf("%s: %s, want %s", line, got, want)
			}
		}
	}
}

func TestCredentialsBelongToTheIdentity(t *testing.T) {
	seen := map[string]string{}
	for _, line := range []string{
		"h:1", "http://h:2", "https://h:1", "socks4://h:1", "socks5://h:1", "h2:1",
		"h:1:u1:p", "h:1:u2:p", "h:1:u1:p2", "h:1:u1:", "u%3Ap:x@h:1", "u:p%3Ax@h:1", "%3A:x@h:1", ":%3Ax@h:1",
	} {
		s := mustLine(t, line)
		if other, ok := seen[s.Identity()]; ok {
			t.Errorf("%s is taken for %s", line, other)
		}
		seen[s.Identity()] = line
	}
}

func TestIDIsStableSaltedAndHidesTheCredentials(t *testing.T) {
	s := mustLine(t, "http://user1:s3cret@127.0.0.1:7001 name=a weight=2")
	same := mustLine(t, "127.0.0.1:7001:user1:s3cret")
	// Stored states depend on this value: it may never change.
	if got := s.ID([]byte("salt")); got != "0297554036309a87" {
		t.Errorf("ID = %s", got)
	}
	if s.ID([]byte("salt")) != same.ID([]byte("salt")) {
		t.Error("attributes or spelling change the id")
	}
	if s.ID([]byte("salt")) == s.ID([]byte("other")) {
		t.Error("the salt changes nothing")
	}
	if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(string(s.ID(nil))) {
		t.Errorf("ID = %q", s.ID(nil))
	}
}

func TestLabelIsTheNameOrTheAddress(t *testing.T) {
	for line, want := range map[string]string{
		"u:s3cret@h.example:1":          "h.example:1",
		"[::1]:1:u:s3cret":              "[::1]:1",
		"u:s3cret@h:1 name=\"my exit\"": "my exit",
	} {
		s := mustLine(t, line)
		if got := string(s.AppendLabel([]byte("to "))); got != "to "+want {
			t.Errorf("appended: %q, want to %q", got, want)
		}
		if got := s.Label(); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestDuplicatesMerge(t *testing.T) {
	list := parseText(t, strings.Join([]string{
		"http://proxy.example:80 weight=2 country=de",
		"other.example:1",
		"HTTP://PROXY.example/ weight=0.5 country=fr city=Paris tag=a rotating open_timeout=1m",
		"proxy.example:80 tag=b rate=3 max_in_flight=4 rotating=false open_timeout=2m",
	}, "\n"))
	if len(list.Specs) != 2 || list.Merged != 2 || len(list.Skipped) != 0 {
		t.Fatalf("%s, merged %d, skipped %v", addresses(list.Specs), list.Merged, list.Skipped)
	}
	s := list.Specs[0]
	if s.Weight != 3.5 || s.Country != "de" || s.City != "Paris" || s.Rate != 3 || s.MaxInFlight != 4 {
		t.Errorf("weight %v, %s %s, limits %v %v", s.Weight, s.Country, s.City, s.Rate, s.MaxInFlight)
	}
	if len(s.Tags) != 1 || s.Tags[0] != "a" || !s.Rotating {
		t.Errorf("tags %v, rotating %v", s.Tags, s.Rotating)
	}
	if first := mustLine(t, "h:1 open_timeout=1m"); s.Breaker != first.Breaker {
		t.Error("the breaker's settings are not those of the first line that has some")
	}
	if list.Specs[1].Weight != 1 {
		t.Errorf("weight of the other %v", list.Specs[1].Weight)
	}
}

func TestUsersOfOneGatewayStayApart(t *testing.T) {
	list := parseText(t, "gw.example:1:u1:p\ngw.example:1:u2:p\ngw.example:1-2:u1:p\n")
	if got := addresses(list.Specs); got != "gw.example:1 gw.example:1 gw.example:2" || list.Merged != 1 {
		t.Errorf("%s, merged %d", got, list.Merged)
	}
}

// A list that is kept is merged with the others again and again, while its
// proxies serve.
func TestMergingChangesNoSpec(t *testing.T) {
	a, b := &Spec{Host: "192.0.2.1", Port: 1, Weight: 1}, &Spec{Host: "192.0.2.1", Port: 1, Weight: 2, Name: "b"}
	for range 2 {
		merged, duplicates := Merge([]*Spec{a, b})
		if duplicates != 1 || len(merged) != 1 || merged[0].Weight != 3 || merged[0].Name != "b" {
			t.Errorf("%d duplicates, %+v", duplicates, *merged[0])
		}
		AssumeGateway(merged)
		only := []*Spec{a}
		if AssumeGateway(only); !only[0].Rotating || !merged[0].Rotating {
			t.Error("the only proxy is no gateway")
		}
	}
	if a.Weight != 1 || a.Name != "" || a.Rotating {
		t.Errorf("%+v has changed", *a)
	}
}
