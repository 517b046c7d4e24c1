package admin

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestOperatorsDeedsAreAudited(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a tag=eu")
	id := string(r.member(t, "a").ID)
	for _, c := range []struct{ path, body string }{
		{"tags/eu/pause", `{"reason": "why", "by": "alice@laptop"}`}, {"proxies/" + id + "/drain", `{"reason": "other"}`},
		{"proxies/" + id + "/resume", `{}`}, {"reload", `{"by": "bob"}`},
		{"proxies/" + id + "/drop", `{}`}, {"tags/eu/pause", `{}`}, {"tags/us/resume", `{}`}, // none of these is done
		{"tags/eu/resume", `{"by": "` + strings.Repeat("x", 201) + `"}`}, {"reload", `{"by": "\u001b[2J"}`},
	} {
		r.ask(t, "POST", "/api/v1/"+c.path, c.body, nil)
	}
	status, text := r.ask(t, "GET", "/api/v1/audit?limit=4", "", nil)
	var deeds []Deed
	if err := json.Unmarshal([]byte(text), &deeds); err != nil || status != 200 || len(deeds) != 4 || len(r.deeds) != 4 {
		t.Fatalf("%d %s", status, text)
	}
	want := []Deed{
		{Caller: "alice@laptop (127.0.0.1)", Action: "pause", Subject: "tag:eu", Input: "why"},
		{Caller: "127.0.0.1", Action: "drain", Subject: id, Input: "other"},
		{Caller: "127.0.0.1", Action: "resume", Subject: id}, {Caller: "bob (127.0.0.1)", Action: "reload"},
	}
	for i, d := range deeds {
		if d.At.IsZero() {
			t.Error("no time")
		}
		d.At = want[i].At
		if d != want[i] {
			t.Errorf("%+v, want %+v", d, want[i])
		}
	}
	for _, bad := range []string{"0", "x", "10001"} {
		if status, _ := r.ask(t, "GET", "/api/v1/audit?limit="+bad, "", nil); status != 400 {
			t.Errorf("limit %s: %d", bad, status)
		}
	}
}

func TestWhatCannotBeAuditedIsNotDone(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a tag=eu")
	r.auditFails = errors.New("disk full at /var/lib")
	for _, path := range []string{"tags/eu/pause", "tags/eu/resume", "reload"} {
		body := `{"reason": "why"}`
		if path == "reload" {
			body = `{}`
		}
		if status, text := r.ask(t, "POST", "/api/v1/"+path, body, nil); status != 500 || strings.Contains(text, "/var") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if status, _ := r.ask(t, "GET", "/api/v1/audit", "", nil); status != 500 {
		t.Errorf("%d", status)
	}
	if calls := r.took(); len(calls) > 0 {
		t.Errorf("done: %q", calls)
	}
}

func TestDrainedIsToldApartFromPaused(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a", "127.0.0.1:2 name=b weight=0", "127.0.0.1:3 name=c")
	path := "/api/v1/proxies/" + string(r.member(t, "a").ID)
	if status, text := r.ask(t, "POST", path+"/drain", `{"reason": "why", "by": "me"}`, nil); status != 200 || !strings.Contains(text, `"paused":false,"drained":true,"pause_reason":"why","paused_by":"me (127.0.0.1)"`) {
		t.Errorf("%d %s", status, text)
	}
	if _, text := r.ask(t, "GET", "/api/v1/explain?target=example.org", "", nil); !strings.Contains(text, `"counts":{"drained":2,"in_use":1}`) || !strings.Contains(text, `"skip":"drained","cause":"why"`) {
		t.Error(text)
	}
	if all := r.proxies(t); all["a"]["effective_weight"] != 0.0 || all["b"]["drained"] != true || all["c"]["drained"] != false {
		t.Errorf("%v", all)
	}
	r.ask(t, "POST", path+"/resume", `{}`, nil)
	if a := r.proxies(t)["a"]; a["drained"] != false || a["effective_weight"] != 1.0 {
		t.Errorf("%v", a)
	}
}
