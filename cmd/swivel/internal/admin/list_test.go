package admin

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/pool"
	"swivel/pool/route"
)

// names asks for a part of the pool.
func (r *rig) names(t *testing.T, query string) (names string, total string) {
	t.Helper()
	response, err := http.Get(r.base + "/api/v1/proxies?" + query)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var found []Proxy
	if err := json.NewDecoder(response.Body).Decode(&found); err != nil || response.StatusCode != 200 {
		t.Fatalf("%s: %s, %v", query, response.Status, err)
	}
	for _, p := range found {
		names += p.Name
	}
	return names, response.Header.Get("X-Total-Count")
}

// TestOverdueProxyWasShownAsAnyOther: its weight was 0, and nothing said why.
func TestOverdueProxyWasShownAsAnyOther(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=hole", "127.0.0.1:2 name=good")
	begin := func(name string) (*pool.Exchange, *pool.Lease) {
		now := time.Now()
		x, _, _ := r.pool.Begin(pool.Request{ID: "test", Target: "a.test:443", Route: route.Route{Proxy: name}}, now)
		l, _, ok := x.Next(now, time.Minute, true)
		if !ok {
			t.Fatal("no lease of " + name)
		}
		return x, l
	}
	for range 5 {
		x, late := begin("hole")
		other, l := begin("good")
		other.Reached(l, pool.FirstByte, 0, time.Now())
		x.Overdue(late, time.Now())
	}
	all := r.proxies(t)
	if all["hole"]["overdue"] != true || all["hole"]["effective_weight"] != 0.0 || all["good"]["overdue"] != nil {
		t.Errorf("%v", all)
	}
}

func TestProxiesAreFilteredSortedAndPaged(t *testing.T) {
	r := newRig(t, "192.0.2.1:1 name=a provider=Acme region=eu country=de tag=fast", "192.0.2.2:1 name=b provider=acme city=Berlin weight=3",
		"user:hush@198.51.100.3:1 name=c tag=fast tag=x", "198.51.100.4:1 name=d weight=0", "198.51.100.5:1 name=e")
	r.refused(t, "b")
	r.outcome(t, "a", breaker.Success)
	r.outcome(t, "e", breaker.Success)
	r.outcome(t, "e", breaker.Failure)
	r.pool.Pause([]*pool.Proxy{r.member(t, "c")}, pool.Pause{Reason: "why"})
	for query, want := range map[string]string{
		"":                                   "abcde 5",
		"state=open":                         "b 1",
		"state=paused":                       "c 1",
		"state=drained":                      "d 1",
		"state=closed":                       "ae 2",
		"state=half_open":                    " 0",
		"tag=fast":                           "ac 2",
		"tag=fas":                            " 0",
		"q=ACME":                             "ab 2",
		"q=berl":                             "b 1",
		"q=198.51":                           "cde 3",
		"q=hush":                             " 0",
		"q=fas&state=paused":                 "c 1",
		"q=" + string(r.member(t, "e").ID):   "e 1",
		"limit=2":                            "ab 5",
		"limit=2&offset=4":                   "e 5",
		"limit=0":                            " 5",
		"offset=9":                           " 5",
		"sort=-name&limit=2":                 "ed 5",
		"sort=state":                         "bcdae 5",
		"sort=-weight&q=acm&limit=1":         "b 2",
		"sort=effective_weight&state=closed": "ea 2",
		"sort=next_test_time":                "bacde 5",
		"sort=-next_test_time":               "bacde 5", // the others have none
		"sort=-success_ratio":                "aebcd 5",
		"sort=success_ratio":                 "eabcd 5",
		"sort=segment&limit=1":               "c 5",
	} {
		names, total := r.names(t, query)
		if got := names + " " + total; got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for _, query := range []string{"state=shut", "sort=hush", "sort=", "limit=-1", "limit=x", "offset=1.5"} {
		status, text := r.ask(t, "GET", "/api/v1/proxies?"+query, "", nil)
		key, _, _ := strings.Cut(query, "=")
		if query == "sort=" && status == 200 {
			continue
		}
		if status != 400 || !strings.Contains(text, `{"error":"`+key+": want") {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
}

func TestOneProxyIsTold(t *testing.T) {
	r := newRig(t, "socks5h://192.0.2.1:1 name=a provider=acme region=eu country=de city=berlin tag=fast")
	a := r.member(t, "a")
	for _, outcome := range []breaker.Outcome{breaker.Success, breaker.Success, breaker.Success, breaker.Failure} {
		r.outcome(t, "a", outcome)
	}
	status, text := r.ask(t, "GET", "/api/v1/proxies/"+string(a.ID), "", nil)
	var p Proxy
	if err := json.Unmarshal([]byte(text), &p); err != nil || status != 200 {
		t.Fatalf("%d %s: %v", status, text, err)
	}
	if p.SuccessRatio == nil || *p.SuccessRatio != 0.75 || p.LatencyMS != nil || p.Protocol != "socks5h" || p.Segment != "acme/eu/socks5" || p.City != "berlin" || len(p.Tags) != 1 {
		t.Errorf("%s", text)
	}
	if status, _ := r.ask(t, "GET", "/api/v1/proxies/"+url.PathEscape("a"), "", nil); status != 404 {
		t.Errorf("by name: %d", status)
	}
}

func TestSummaryCountsEverybodyOnce(t *testing.T) {
	r := newRig(t, "192.0.2.1:1 name=a provider=acme", "192.0.2.2:1 name=b provider=acme weight=3", "192.0.2.3:1 name=c", "192.0.2.4:1 name=d weight=0", "192.0.2.5:1 name=e provider=zeta")
	r.refused(t, "b")
	r.refused(t, "c")
	r.pool.Pause([]*pool.Proxy{r.member(t, "c")}, pool.Pause{Reason: "why"})
	status, text := r.ask(t, "GET", "/api/v1/summary", "", nil)
	var s Summary
	if err := json.Unmarshal([]byte(text), &s); err != nil || status != 200 {
		t.Fatalf("%d %s: %v", status, text, err)
	}
	if s.Proxies != 5 || s.States["open"] != 1 || s.States["paused"] != 1 || s.States["drained"] != 1 || s.States["closed"] != 2 || s.Weight != 6 || s.Effective != 2 {
		t.Errorf("%s", text)
	}
	if len(s.Segments) != 3 || s.Segments[1].Name != "acme//http" || s.Segments[1].States["open"] != 1 || s.Segments[1].Weight != 4 || s.Segments[1].Effective != 1 {
		t.Errorf("%+v", s.Segments)
	}
	if s.LastMinute.SuccessRatio != nil || s.ConnectionsLimit != 100 || s.ErrorRatio != 0.4 {
		t.Errorf("%s", text)
	}
	if status, text := r.ask(t, "GET", "/api/v1/history", "", nil); status != 200 || text != "[]\n" {
		t.Errorf("%d %s", status, text)
	}
}
