package admin

import (
	"encoding/json"
	"net/url"
	"testing"
)

func TestExplainSaysWhoWouldServeAndWhyOthersWouldNot(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a country=us", "127.0.0.1:2 name=b country=de", "127.0.0.1:3 name=c country=us")
	r.refused(t, "c")
	query := url.Values{"target": {"https://Example.org/x"}, "user": {"me-country-us"}, "limit": {"2"}}
	status, text := r.ask(t, "GET", "/api/v1/explain?"+query.Encode(), "", nil)
	var e Explanation
	if err := json.Unmarshal([]byte(text), &e); err != nil || status != 200 {
		t.Fatalf("%d %s: %v", status, text, err)
	}
	if e.Target != "example.org:443" || e.Route != "country=us" || len(e.Proxies) != 2 {
		t.Errorf("%+v", e)
	}
	if first := e.Proxies[0]; first.Name != "a" || first.Share != 1 || first.Skip != "in_use" {
		t.Errorf("first %+v", first)
	}
	if next := e.Proxies[1]; next.Name != "c" || next.Skip != "open" || next.Cause != "refused" || next.After < 800 {
		t.Errorf("then %+v, want the one that rests and when it may be tried", next)
	}
	if e.Counts["in_use"] != 1 || e.Counts["open"] != 1 || e.Counts["mismatch"] != 1 {
		t.Errorf("counts %v", e.Counts)
	}
}

func TestExplainRefusesWhatItCannotRead(t *testing.T) {
	r := newRig(t, "127.0.0.1:1")
	for query, want := range map[string]string{
		"":                              "target: want host, host:port or a URL",
		"target=a&limit=many":           "limit: want how many proxies to list, 0 or more",
		"target=a&user=me-country-us-x": "user: unknown routing key x",
	} {
		status, text := r.ask(t, "GET", "/api/v1/explain?"+query, "", nil)
		var problem struct{ Error string }
		if err := json.Unmarshal([]byte(text), &problem); err != nil || status != 400 || problem.Error != want {
			t.Errorf("%q: %d %s, want %q", query, status, text, want)
		}
	}
}

func TestExplainSaysThatClientsDoNotGetATarget(t *testing.T) {
	r := newRig(t, "127.0.0.1:1")
	for target, want := range map[string]string{"denied.test:443": "403 target_denied", "fine.test:443": ""} {
		var e Explanation
		_, text := r.ask(t, "GET", "/api/v1/explain?target="+target, "", nil)
		if err := json.Unmarshal([]byte(text), &e); err != nil || e.Refused != want {
			t.Errorf("%s: %v, %q, want %q", target, err, e.Refused, want)
		}
	}
}
