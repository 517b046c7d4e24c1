package admin

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"swivel/pool"
	"swivel/pool/route"
)

// served makes an exchange that a proxy serves, and returns that proxy.
func (r *rig) served(t *testing.T, q pool.Request) *pool.Proxy {
	t.Helper()
	now := time.Now()
	x, refusal, _ := r.pool.Begin(q, now)
	if refusal != nil {
		t.Fatal(*refusal)
	}
	l, _, ok := x.Next(now, time.Minute, false)
	if !ok {
		t.Fatal("no proxy")
	}
	x.Reached(l, pool.FirstByte, time.Millisecond, now)
	x.Won(l, now)
	x.End(now)
	return l.Proxy
}

func (r *rig) bans() (list []string) {
	bans, _ := r.pool.Targets(time.Now())
	for _, b := range bans {
		list = append(list, string(b.Proxy)+" "+b.Target)
	}
	return list
}

func TestReportsFindTheProxyThatServed(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a", "127.0.0.1:2 name=b", "127.0.0.1:3 name=c")
	keys := route.Route{Session: "s1"}
	for i, c := range []struct {
		by   *pool.Proxy
		body string
	}{
		{r.served(t, pool.Request{ID: "6d0761316442b0f9", Target: "shop.test:443"}), `{"request_id": "6d0761316442b0f9", "outcome": "banned", "retry_after_s": 90}`},
		{r.served(t, pool.Request{Target: "x.test:443", Client: "me", Route: keys}), `{"session": "me-session-s1", "target": "https://Shop.test/cart", "outcome": "captcha", "retry_after_s": 90}`},
		{r.member(t, "a"), `{"proxy_id": "` + string(r.member(t, "a").ID) + `", "target": "shop.test", "outcome": "banned", "retry_after_s": 90}`},
	} {
		status, text := r.ask(t, "POST", "/api/v1/report", c.body, nil)
		var done Reported
		if err := json.Unmarshal([]byte(text), &done); err != nil || status != 200 || done.ProxyID != string(c.by.ID) || done.Target != "shop.test:443" || !done.Counted {
			t.Fatalf("%s: %d %s", c.body, status, text)
		}
		if left := time.Until(time.UnixMilli(int64(done.BannedUntil * 1000))); left < 80*time.Second || left > 90*time.Second {
			t.Errorf("%s: banned for %v", c.body, left)
		}
		if want := string(c.by.ID) + " shop.test:443"; !strings.Contains(strings.Join(r.bans(), "\n"), want) {
			t.Errorf("%q, want %s", r.bans(), want)
		}
		if len(r.deeds) != i+1 || r.deeds[i].Action != "ban" || r.deeds[i].Subject != string(c.by.ID) || !strings.HasSuffix(r.deeds[i].Input, " by shop.test:443 for 1m30s") {
			t.Errorf("audited: %+v", r.deeds)
		}
	}
}

func TestReportsThatBanNobodyAreNotAudited(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a")
	id := string(r.member(t, "a").ID)
	for _, outcome := range []string{"ok", "failure", "failure"} {
		if status, text := r.ask(t, "POST", "/api/v1/report", `{"proxy_id": "`+id+`", "outcome": "`+outcome+`"}`, nil); status != 200 || !strings.Contains(text, `"counted":true`) {
			t.Errorf("%s: %d %s", outcome, status, text)
		}
	}
	p := r.proxies(t)["a"]
	if ratio, _ := p["success_ratio"].(float64); ratio < 0.33 || ratio > 0.34 || len(r.deeds) > 0 || len(r.bans()) > 0 {
		t.Errorf("success ratio %v, audited %v", p["success_ratio"], r.deeds)
	}
	r.refused(t, "a")
	if status, text := r.ask(t, "POST", "/api/v1/report", `{"proxy_id": "`+id+`", "outcome": "ok"}`, nil); status != 200 || !strings.Contains(text, `"counted":false`) {
		t.Errorf("while it rests: %d %s", status, text)
	}
}

func TestReportsThatMakeNoSenseAreRefused(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a")
	r.served(t, pool.Request{ID: "6d0761316442b0f9", Target: "shop.test:443"})
	id := string(r.member(t, "a").ID)
	for body, want := range map[string]int{
		`{"request_id": "0000000000000000", "outcome": "ok"}`:                                           404,
		`{"session": "me-session-s2", "outcome": "ok"}`:                                                 404,
		`{"session": "me", "outcome": "ok"}`:                                                            404,
		`{"proxy_id": "a", "outcome": "ok"}`:                                                            404,
		`{"session": "me-country-de-sesion-s1", "outcome": "ok"}`:                                       400,
		`{"outcome": "ok"}`:                                                                             400,
		`{"request_id": "6d0761316442b0f9", "proxy_id": "` + id + `", "outcome": "ok"}`:                 400,
		`{"request_id": "6d0761316442b0f9"}`:                                                            400,
		`{"request_id": "6d0761316442b0f9", "outcome": "fine"}`:                                         400,
		`{"proxy_id": "` + id + `", "outcome": "banned"}`:                                               400,
		`{"proxy_id": "` + id + `", "outcome": "banned", "target": "a b"}`:                              400,
		`{"proxy_id": "` + id + `", "outcome": "banned", "target": "` + strings.Repeat("x", 300) + `"}`: 400,
		`{"request_id": "6d0761316442b0f9", "outcome": "banned", "retry_after_s": -1}`:                  400,
		`{"request_id": "6d0761316442b0f9", "outcome": "banned", "retry_after_s": 1e300}`:               400,
		`{"request_id": "6d0761316442b0f9", "outcome": "banned", "why": "x"}`:                           400,
	} {
		if status, text := r.ask(t, "POST", "/api/v1/report", body, nil); status != want || !strings.Contains(text, `{"error":"`) {
			t.Errorf("%s: %d %s, want %d", body, status, text, want)
		}
	}
	if len(r.bans()) > 0 || len(r.deeds) > 0 {
		t.Errorf("banned: %q", r.bans())
	}
}
