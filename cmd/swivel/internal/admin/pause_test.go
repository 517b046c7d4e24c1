package admin

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"swivel/pool"
)

func TestPauseAndResumeByID(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a", "127.0.0.1:2 name=b")
	a := r.member(t, "a")
	path := "/api/v1/proxies/" + string(a.ID)
	status, text := r.ask(t, "POST", path+"/pause", `{"reason": "vendor maintenance"}`, nil)
	if status != 200 || !strings.Contains(text, `"paused":true`) || !strings.Contains(text, "vendor maintenance") || strings.Contains(text, `"b"`) {
		t.Errorf("%d %s", status, text)
	}
	if why := a.Paused(); why == nil || why.Reason != "vendor maintenance" || why.At.IsZero() || r.member(t, "b").Paused() != nil {
		t.Errorf("paused: %+v", why)
	}
	status, text = r.ask(t, "POST", path+"/pause", `{"reason": "another"}`, nil)
	if status != 200 || a.Paused().Reason != "another" {
		t.Errorf("again: %d %s", status, text)
	}
	for range 2 { // the second changes nothing and is no error
		status, text = r.ask(t, "POST", path+"/resume", `{}`, nil)
		if status != 200 || a.Paused() != nil || !strings.Contains(text, `"paused":false`) {
			t.Errorf("%d %s", status, text)
		}
	}
}

func TestPauseAndResumeByTag(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a tag=eu tag=slow", "127.0.0.1:2 name=b tag=eu", "127.0.0.1:3 name=c tag=us", `127.0.0.1:4 name=d tag="two words/ä"`)
	paused := func() (names []string) {
		for _, m := range r.pool.Proxies() {
			if m.Paused() != nil {
				names = append(names, m.Spec.Name)
			}
		}
		return names
	}
	if status, text := r.ask(t, "POST", "/api/v1/tags/eu/pause", `{"reason": "why"}`, nil); status != 200 || !slices.Equal(paused(), []string{"a", "b"}) {
		t.Errorf("%d %s: %q", status, text, paused())
	}
	if status, text := r.ask(t, "POST", "/api/v1/tags/slow/resume", `{}`, nil); status != 200 || !slices.Equal(paused(), []string{"b"}) {
		t.Errorf("%d %s: %q", status, text, paused())
	}
	if status, text := r.ask(t, "POST", "/api/v1/tags/two%20words%2F%C3%A4/pause", `{"reason": "why"}`, nil); status != 200 || !slices.Equal(paused(), []string{"b", "d"}) {
		t.Errorf("%d %s: %q", status, text, paused())
	}
}

func TestReasonIsOneLineForPeople(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a tag=x")
	for body, want := range map[string]int{
		`{"reason": "Wartung bis 14 Uhr: „später“"}`:             200,
		fmt.Sprintf(`{"reason": %q}`, strings.Repeat("x", 1000)): 200,
		fmt.Sprintf(`{"reason": %q}`, strings.Repeat("x", 1001)): 400,
		`{"reason": ""}`:                  400,
		`{}`:                              400,
		`null`:                            400,
		`{"reason": "two\nlines"}`:        400,
		`{"reason": "\u001b[2J"}`:         400,
		`{"reason": "\u009b2J"}`:          400,
		`{"reason": 5}`:                   400,
		`{"why": "x"}`:                    400,
		`{"reason": "x", "until": 5}`:     400,
		`{"reason": "x"} {"reason": "y"}`: 400,
		`{"reason": "x"}, and more`:       400,
		`{"reason": "x"`:                  400,
		`reason=x`:                        400,
		`["x"]`:                           400,
		``:                                400,
		`{"reason": "x", "pad": "` + strings.Repeat("y", 1<<20) + `"}`:       413,
		strings.Repeat(" ", maxBody+1) + `{"reason": "x"}`:                   413,
		strings.Repeat(`{"reason":`, 1200) + "1" + strings.Repeat("}", 1200): 400,
	} {
		status, text := r.ask(t, "POST", "/api/v1/tags/x/pause", body, nil)
		if status != want || want != 200 && !strings.Contains(text, `{"error":"`) {
			t.Errorf("%.60q: %d %s, want %d", body, status, text, want)
		}
		if done := r.member(t, "a").Paused() != nil; done != (want == 200) {
			t.Errorf("%.60q: paused %v", body, done)
		}
		r.pool.Resume(r.pool.Proxies())
	}
}

func TestBlanksWereAReason(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a tag=x")
	for _, body := range []string{`{"reason": " "}`, `{"reason": "\u00a0\u2003"}`, `{"reason": "\u200b"}`, `{"reason": "x", "by": " "}`} {
		status, text := r.ask(t, "POST", "/api/v1/tags/x/pause", body, nil)
		if status != 400 || r.member(t, "a").Paused() != nil {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
}

func TestUnknownNamesAreNotFound(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a tag=x")
	id := string(r.member(t, "a").ID)
	for _, path := range []string{
		"/api/v1/proxies/0123456789abcdef/pause", "/api/v1/proxies/a/pause", "/api/v1/proxies/127.0.0.1:1/resume", "/api/v1/tags/y/pause", "/api/v1/tags/X/resume",
		"/api/v1/proxies/" + strings.ToUpper(id) + "x/pause", "/api/v1/proxies/" + id + "/drop", "/api/v1/proxies/" + id + "/Pause", "/api/v1/tags/x/close",
	} {
		if status, text := r.ask(t, "POST", path, `{"reason": "why"}`, nil); status != 404 || !strings.Contains(text, `{"error":"`) {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if calls := r.took(); len(calls) > 0 {
		t.Errorf("something was done: %q", calls)
	}
}

// A form of another site's page can be sent without asking first; JSON cannot.
func TestOnlyJSONIsTaken(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a tag=x")
	for kind, want := range map[string]int{
		"application/json": 200, "application/json; charset=utf-8": 200, "Application/JSON": 200,
		"": 415, "text/plain": 415, "application/x-www-form-urlencoded": 415, "multipart/form-data; boundary=x": 415, "application/jsonx": 415,
		"text/plain; application/json": 415, "application/json;;": 415, "application/json, text/plain": 415,
	} {
		for _, action := range []string{"pause", "resume"} {
			status, text := r.ask(t, "POST", "/api/v1/tags/x/"+action, `{"reason": "why"}`, func(q *http.Request) {
				q.Header.Set("Content-Type", kind)
			})
			if status != want {
				t.Errorf("%s as %q: %d %s, want %d", action, kind, status, text, want)
			}
		}
	}
	if n := len(r.took()); n != 6 {
		t.Errorf("%d things were done, want 6", n)
	}
}

func TestFailingStoreIsToldWithoutInternals(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a tag=x")
	r.fails = errors.New("save pause to /var/lib/swivel.db: disk I/O error")
	for _, action := range []string{"pause", "resume"} {
		status, text := r.ask(t, "POST", "/api/v1/tags/x/"+action, `{"reason": "why"}`, nil)
		if status != 500 || !strings.Contains(text, "could not be stored") || strings.Contains(text, "swivel.db") || strings.Contains(text, "I/O") {
			t.Errorf("%s: %d %s", action, status, text)
		}
	}
	if r.member(t, "a").Paused() != nil {
		t.Error("paused although it was not stored")
	}
}

func TestOperatorsMayAllComeAtOnce(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a tag=x", "127.0.0.1:2 name=b tag=x", "127.0.0.1:3 name=c")
	id := string(r.member(t, "a").ID)
	var working sync.WaitGroup
	for range 8 {
		working.Go(func() {
			for range 20 {
				r.ask(t, "POST", "/api/v1/tags/x/pause", `{"reason": "why"}`, nil)
				r.ask(t, "POST", "/api/v1/proxies/"+id+"/resume", `{}`, nil)
				r.ask(t, "GET", "/api/v1/proxies", "", nil)
				r.ask(t, "GET", "/readyz", "", nil)
			}
		})
	}
	working.Go(func() {
		for _, m := range r.pool.Proxies() {
			r.refused(t, m.Spec.Name)
		}
	})
	working.Wait()
	if status, _ := r.ask(t, "POST", "/api/v1/tags/x/resume", `{}`, nil); status != 200 || slices.ContainsFunc(r.pool.Proxies(), func(m *pool.Proxy) bool { return m.Paused() != nil }) {
		t.Errorf("%d, or somebody is still paused", status)
	}
}
