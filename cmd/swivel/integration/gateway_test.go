package integration

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// TestGatewaySeesWhatTheClientAskedFor: a squid that lets everybody in stands
// for a vendor's gateway; its log says as whom swivel came.
func TestGatewaySeesWhatTheClientAskedFor(t *testing.T) {
	o := newOrigin(t)
	hostPort, dir := runSquid(t, "127.0.0.27", func(string) string { return "basic_fake_auth" })
	d := startDaemon(t, swiveltest.Setup{Lines: []string{"http://u-country-{country}-session-{session}:pw@" + hostPort}})
	curl := fetchers(t)[0]
	for _, c := range []struct{ client, want string }{
		{"scraper-cc-US-sessid-abc12345", "u-country-us-session-abc12345"},
		{"scraper;session=b2", "u-session-b2"},
		{"scraper-session-b2", "u-session-b2"},
		{"scraper-country-de-session-a:b-asn-1", "u-country-de-session-a"}, // what is behind the colon is the password
		{"scraper-session-x-asn-1", "u-session-6a964ab0f836d7e8"},
	} {
		for _, base := range []string{o.http, o.https} {
			before := len(visitors(t, dir))
			curl.fetch(t, o, "http://"+c.client+":x@"+d.Listen, base+"/ip", "")
			var who []string
			swiveltest.Eventually(t, 10*time.Second, "squid has logged the request", func() bool {
				who = visitors(t, dir)
				return len(who) > before
			})
			method := "GET"
			if base == o.https {
				method = "CONNECT"
			}
			if got := who[len(who)-1]; got != c.want+" "+method {
				t.Errorf("%s came as %q, want %q", c.client, got, c.want)
			}
		}
	}
	curl.fetch(t, o, "http://"+d.Listen, o.http+"/ip", "")
	curl.fetch(t, o, "http://"+d.Listen, o.http+"/ip", "")
	var who []string
	swiveltest.Eventually(t, 10*time.Second, "squid has logged the requests without a session", func() bool {
		who = visitors(t, dir)
		return len(who) == 12
	})
	if slices.Sort(who); len(slices.Compact(who)) != 10 {
		t.Errorf("two requests without a session had the same one: %q", who)
	}
}

// visitors are who made requests, and with which method. Who only looked whether
// squid listens is not among them.
func visitors(t *testing.T, dir string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "access.log"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	lines := strings.FieldsFunc(string(text), func(c rune) bool { return c == '\n' })
	return slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "- ") })
}
