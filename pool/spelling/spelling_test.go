package spelling

import "testing"

func TestNear(t *testing.T) {
	known := []string{"ca", "sni", "name", "http", "https", "weight"}
	for word, want := range map[string]string{
		"wieght": "weight", "Weight": "weight", "wight": "weight", "weigh": "weight", "htpp": "http", "httsp": "http",
		"nam": "name", "CA": "ca", "xy": "", "cb": "", "sna": "sni", "snap": "", "s3cret": "", "naem": "", "": "", "lights": "",
	} {
		if got := Near(word, known); got != want {
			t.Errorf("Near(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestCounted(t *testing.T) {
	for n, want := range map[int]string{0: "0 proxies", 1: "1 proxy", 2: "2 proxies"} {
		if got := Counted(n, "proxy", "proxies"); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
