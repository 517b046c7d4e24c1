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

func TestToLookForSlipsTakesNoMemory(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Slip("brd-customer-hl_1-county-de") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
