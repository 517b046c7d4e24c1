package admin

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

func TestReloadSaysWhatItDid(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a")
	status, text := r.ask(t, "POST", "/api/v1/reload", `{}`, nil)
	if status != 200 || !strings.HasPrefix(text, `{"added":1,"kept":2,"removed":0,"skipped":0,`) {
		t.Errorf("%d %s", status, text)
	}
	r.fails = errors.Join(errors.New("users_file: line 1"), errors.New("a list"))
	if status, text := r.ask(t, "POST", "/api/v1/reload", `{}`, nil); status != 422 || text != `{"error":"users_file: line 1; a list"}`+"\n" {
		t.Errorf("%d %s", status, text)
	}
	last := r.deeds[len(r.deeds)-1]
	if last.Action != "reload_refused" || last.Input != "users_file: line 1; a list" || r.deeds[len(r.deeds)-2].Action != "reload" {
		t.Errorf("audited: %+v", r.deeds)
	}
	r.stopping.Store(true)
	if status, text := r.ask(t, "POST", "/api/v1/reload", `{}`, nil); status != 409 {
		t.Errorf("%d %s", status, text)
	}
	if n := len(r.took()); n != 2 {
		t.Errorf("%d reloads", n)
	}
}

func TestWhatNeedsNoFieldsTakesNoBody(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a tag=eu")
	for path, want := range map[string]int{"reload": 200, "tags/eu/resume": 200, "tags/eu/pause": 400, "report": 400} {
		if status, text := r.ask(t, "POST", "/api/v1/"+path, "", nil); status != want || strings.Contains(text, "JSON") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}

func TestReloadTakesJSONOnly(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a")
	for body, want := range map[string]int{"[]": 400, `{"force": true}`: 400, `{} {}`: 400} {
		if status, text := r.ask(t, "POST", "/api/v1/reload", body, nil); status != want {
			t.Errorf("%q: %d %s", body, status, text)
		}
	}
	bare := func(q *http.Request) { q.Header.Del("Content-Type") }
	if status, text := r.ask(t, "POST", "/api/v1/reload", "", bare); status != 415 {
		t.Errorf("nothing, of no type: %d %s", status, text)
	}
	form := func(q *http.Request) { q.Header.Set("Content-Type", "text/plain") }
	if status, text := r.ask(t, "POST", "/api/v1/reload", `{}`, form); status != 415 {
		t.Errorf("%d %s", status, text)
	}
	if status, _ := r.ask(t, "GET", "/api/v1/reload", "", nil); status != 405 {
		t.Errorf("GET: %d", status)
	}
	if calls := r.took(); len(calls) > 0 {
		t.Errorf("something was done: %q", calls)
	}
}
