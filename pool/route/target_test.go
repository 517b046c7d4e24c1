package route

import "testing"

func TestTargetsAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]string{
		"example.org":                 "example.org:443",
		"Example.org:8443":            "example.org:8443",
		"http://example.org":          "example.org:80",
		"HTTPS://example.org/a?b=c:d": "example.org:443",
		"http://example.org:8080/a":   "example.org:8080",
		"[2001:db8::1]:443":           "[2001:db8::1]:443",
		"2001:db8::1":                 "[2001:db8::1]:443",
		"https://[2001:db8::1]/":      "[2001:db8::1]:443",
		"":                            "",
		"https://":                    "",
		"example.org:0":               "",
		"example.org:70000":           "",
		"user@example.org":            "",
		"two words":                   "",
	} {
		if got, err := Target(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}
