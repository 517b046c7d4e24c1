package route

import "testing"

func TestAMisspeltOrEmptyKeyInTheNameIsFound(t *testing.T) {
	for _, c := range []struct {
		name, key string
		missing   bool
	}{
		{"a-county-de", "country", false},
		{"county-de", "country", false},
		{"a+Coutnry=de", "country", false},
		{"a;sesion=1", "session", false},
		{"a-sessions-1", "session", false},
		{"a-citx-berlin", "city", false},
		{"a-country", "country", true},
		{"a-b;SESSION", "session", true},

		{"", "", false},
		{"scraper", "", false},
		{"scraper-prod", "", false},
		{"country", "", false}, // just a name
		{"county", "", false},
		{"a-county", "", false}, // it has no value either
		{"a-county-", "", false},
		{"a-tags-1", "", false}, // too short to guess
		{"scraper-stage-1", "", false},
		{"a-contry-x-cuontre-y", "country", false},
	} {
		if key, missing := Slip(c.name); key != c.key || missing != c.missing {
			t.Errorf("%q: %q, missing %v", c.name, key, missing)
		}
	}
	for _, d := range dialects {
		if key, _ := Slip(d.name); key != "" && d.bad == "" {
			t.Errorf("%s: %q is taken for a slip of %s", d.vendor, d.name, key)
		}
	}
}

// A warning each minute about a name that is as it should be teaches to overlook
// those that matter.
func TestOrdinaryWordsInNamesAreNoSlips(t *testing.T) {
	for _, name := range []string{
		"team-group-1", "Group-a-scraper", "web-proxy2-eu", "session3-x", "city1-crawler", "corp-proxy", "squid_Proxy", "web-tagger-2",
		"team-state-1", "brd-customer-hl_1", "customer-USER", "lum-customer-c_1-gip-us", "package-123-opt-lookalike",
		"user-sessionid-1", "user-sessionlength-600", "user-continent-eu", "user-asn-5", "user-zip-90210", "user-isp-o2", "user-sessttl-30",
	} {
		if key, missing := Slip(name); key != "" {
			t.Errorf("%q is taken for a slip of %s, missing %v", name, key, missing)
		}
	}
	for name, want := range map[string]string{
		"team-group-1-county-de": "country", "a-goups-1": "groups", "a-prxy-x": "proxy", "a-proxy2-x-sesion-1": "session", "a-city": "city",
	} {
		if key, _ := Slip(name); key != want {
			t.Errorf("%q: %q is not found, but %q", name, want, key)
		}
	}
}

func TestToLookForSlipsTakesNoMemory(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Slip("brd-customer-hl_1-county-de") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
