package admin

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"swivel/pool"
)

func TestReadyOnlyWhileSomebodyIsAvailable(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a", "127.0.0.1:2 name=b", "127.0.0.1:3 name=drained weight=0")
	if status, text := r.ask(t, "GET", "/readyz", "", nil); status != 200 || text != "ready\n" {
		t.Errorf("all closed: %d %s", status, text)
	}
	r.refused(t, "a")
	if status, _ := r.ask(t, "GET", "/readyz", "", nil); status != 200 {
		t.Errorf("one closed: %d", status)
	}
	r.pool.Pause([]*pool.Proxy{r.member(t, "b")}, pool.Pause{Reason: "why"})
	if status, text := r.ask(t, "GET", "/readyz", "", nil); status != 503 || !strings.Contains(text, "1m0s") {
		t.Errorf("one open, one paused, one drained: %d %s", status, text)
	}
	if status, _ := r.ask(t, "GET", "/healthz", "", nil); status != 200 {
		t.Errorf("healthz: %d: that the pool is empty does not mean that the process has to be restarted", status)
	}
	r.pool.Resume([]*pool.Proxy{r.member(t, "b")})
	if status, _ := r.ask(t, "GET", "/readyz", "", nil); status != 200 {
		t.Errorf("resumed: %d", status)
	}
}

// Programs read the error of every answer below /api/.
func TestPathAndMethodThatAPIDoesNotHaveWereRefusedInPlainText(t *testing.T) {
	r := newRig(t, "127.0.0.1:1")
	for request, want := range map[string]struct {
		status      int
		text, allow string
	}{
		"GET /api/v1/nosuch":           {404, "there is no such path; /openapi.yaml has all that there are", ""},
		"GET /api/":                    {404, "there is no such path; /openapi.yaml has all that there are", ""},
		"DELETE /api/v1/proxies":       {405, "this path takes GET, HEAD", "GET, HEAD"},
		"GET /api/v1/reload":           {405, "this path takes POST", "POST"},
		"POST /api/v1/proxies/x/pause": {404, `no proxy has the id "x"`, ""},
	} {
		method, path, _ := strings.Cut(request, " ")
		asked, err := http.NewRequestWithContext(t.Context(), method, r.base+path, strings.NewReader(`{"reason": "why"}`))
		if err != nil {
			t.Fatal(err)
		}
		asked.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultTransport.RoundTrip(asked)
		if err != nil {
			t.Fatal(err)
		}
		var problem struct{ Error string }
		err = json.NewDecoder(response.Body).Decode(&problem)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != want.status || problem.Error != want.text ||
			response.Header.Get("Allow") != want.allow || response.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %q, %v, %v", request, response.StatusCode, problem.Error, response.Header, err)
		}
	}
	if status, text := r.ask(t, "GET", "/nosuch", "", nil); status != 404 || text != "404 page not found\n" {
		t.Errorf("beside the API: %d %s", status, text)
	}
	elsewhere := func(r *http.Request) { r.Host = "rebound.test" }
	if status, text := r.ask(t, "GET", "/api/v1/proxies", "", elsewhere); status != 403 || !strings.HasPrefix(text, `{"error":"use the address`) {
		t.Errorf("under a name of somebody else's: %d %s", status, text)
	}
}

func TestProxiesAreDescribed(t *testing.T) {
	r := newRig(t, "user:hush@127.0.0.1:1 name=sound weight=3", "127.0.0.1:2 name=open", "127.0.0.1:3 name=paused", "127.0.0.1:4 name=drained weight=0")
	r.refused(t, "open")
	r.pool.Pause([]*pool.Proxy{r.member(t, "paused")}, pool.Pause{Reason: "vendor maintenance"})
	p := r.proxies(t)
	for name, want := range map[string]map[string]any{
		"sound":   {"state": "closed", "weight": 3.0, "effective_weight": 3.0, "paused": false, "cause": nil, "next_test_time": nil, "pause_reason": nil},
		"open":    {"state": "open", "weight": 1.0, "effective_weight": 0.0, "paused": false, "cause": "refused"},
		"paused":  {"state": "closed", "weight": 1.0, "effective_weight": 0.0, "paused": true, "pause_reason": "vendor maintenance"},
		"drained": {"state": "closed", "weight": 0.0, "effective_weight": 0.0, "paused": false},
	} {
		for field, value := range want {
			if p[name][field] != value {
				t.Errorf("%s: %s is %v, want %v", name, field, p[name][field], value)
			}
		}
		if p[name]["id"] != string(r.member(t, name).ID) {
			t.Errorf("%s has id %v", name, p[name]["id"])
		}
	}
	next, _ := p["open"]["next_test_time"].(float64)
	if left := time.Until(time.UnixMilli(int64(next * 1000))); left < 14*time.Minute || left > 17*time.Minute {
		t.Errorf("next_test_time is %f, in %v; want unix seconds, in 15 minutes and a little", next, left)
	}
	if _, text := r.ask(t, "GET", "/api/v1/proxies", "", nil); strings.Contains(text, "hush") || strings.Contains(text, "127.0.0.1:1") {
		t.Errorf("shows an address or a credential of a proxy that has a name: %s", text)
	}
}

// A page of another site can make its own name resolve to 127.0.0.1, and is
// then of one origin with the API.
func TestRequestsUnderForeignNamesAreRefused(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a tag=x")
	for host, want := range map[string]int{
		"127.0.0.1": 200, "127.0.0.1:8485": 200, "localhost": 200, "LocalHost:8485": 200, "[::1]:8485": 200, "[::1]": 200,
		"evil.test": 403, "evil.test:8485": 403, "localhost.evil.test": 403, "127.0.0.1.evil.test": 403, "localhost.": 403, "x:1:1": 403,
	} {
		as := func(q *http.Request) { q.Host = host }
		for _, path := range []string{"/healthz", "/readyz", "/api/v1/proxies"} {
			if status, _ := r.ask(t, "GET", path, "", as); status != want {
				t.Errorf("%s as %q: %d, want %d", path, host, status, want)
			}
		}
		if status, _ := r.ask(t, "POST", "/api/v1/tags/x/pause", `{"reason":"why"}`, as); status != want {
			t.Errorf("pause as %q: %d, want %d", host, status, want)
		}
		r.pool.Resume(r.pool.Proxies())
	}
}

// Another program's preflight answer, a browser's fault or an extension may let a
// page send JSON after all: what it sends says where it comes from.
func TestAChangeThatAPageOfAnotherSiteAsksForIsRefused(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a tag=x")
	for _, of := range []struct {
		origin, site string
		want         int
	}{
		{"", "", 200}, {"http://127.0.0.1:8485", "", 200}, {"http://127.0.0.1:8485", "same-origin", 200}, {"", "none", 200},
		{"http://evil.test", "", 403}, {"null", "", 403}, {"http://127.0.0.1:3000", "", 403},
		{"http://127.0.0.1:3000", "same-site", 403}, {"http://evil.test", "cross-site", 403},
	} {
		status, _ := r.ask(t, "POST", "/api/v1/tags/x/pause", `{"reason":"why"}`, func(q *http.Request) {
			q.Host = "127.0.0.1:8485"
			for name, value := range map[string]string{"Origin": of.origin, "Sec-Fetch-Site": of.site} {
				if value != "" {
					q.Header.Set(name, value)
				}
			}
		})
		if paused := r.member(t, "a").Paused() != nil; status != of.want || paused != (of.want == 200) {
			t.Errorf("Origin %q, Sec-Fetch-Site %q: %d, paused %v; want %d", of.origin, of.site, status, paused, of.want)
		}
		r.pool.Resume(r.pool.Proxies())
	}
}

func TestGetChangesNothing(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a tag=x")
	id := string(r.member(t, "a").ID)
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH"} {
		for _, path := range []string{"/api/v1/proxies/" + id + "/pause", "/api/v1/tags/x/pause", "/api/v1/proxies/" + id + "/resume"} {
			if status, _ := r.ask(t, method, path+"?reason=why", `{"reason":"why"}`, nil); status != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d", method, path, status)
			}
		}
	}
	if calls := r.took(); len(calls) > 0 || r.member(t, "a").Paused() != nil {
		t.Errorf("something was done: %q", calls)
	}
	for _, path := range []string{"/healthz", "/readyz", "/api/v1/proxies"} {
		if status, _ := r.ask(t, "POST", path, "{}", nil); status != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: %d", path, status)
		}
	}
	for _, path := range []string{"/page", "/page/", "/page/nobody", "/page/..%2fadmin.go", "/metrics/x", "/api", "/api/v1/", "/debug/pprof/", "/api/v1/proxies/../../.."} {
		if status, _ := r.ask(t, "GET", path, "", nil); status != 404 && status != 307 && status != 301 {
			t.Errorf("GET %s: %d", path, status)
		}
	}
}

func TestADaemonThatStopsIsNotReady(t *testing.T) {
	r := newRig(t, "127.0.0.1:1")
	r.operator.stopping.Store(true)
	if status, text := r.ask(t, "GET", "/readyz", "", nil); status != 503 || text != "stopping\n" {
		t.Errorf("%d %q", status, text)
	}
}
