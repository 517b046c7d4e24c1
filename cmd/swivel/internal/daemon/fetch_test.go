package daemon

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/config"
)

// vendor serves a list that can be changed, at a URL that is a secret.
type vendor struct {
	*httptest.Server
	url string

	asked, unchanged atomic.Int64

	mu     sync.Mutex
	tag    string // names the state of the list, with date
	date   string
	status int
	list   string
}

func newVendor(t *testing.T, list string) *vendor {
	v := &vendor{status: 200, list: list}
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "s3cret" || r.URL.Path != "/s3cret/list" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		v.asked.Add(1)
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.tag != "" {
			w.Header().Set("ETag", v.tag)
			w.Header().Set("Last-Modified", v.date)
		}
		if r.Header.Get("If-None-Match") == v.tag && r.Header.Get("If-Modified-Since") == v.date && v.tag != "" {
			v.unchanged.Add(1)
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.WriteHeader(v.status)
		_, _ = fmt.Fprint(w, v.list)
	}))
	t.Cleanup(v.Close)
	v.url = strings.Replace(v.URL, "http://", "http://me:s3cret@", 1) + "/s3cret/list?key=s3cret"
	return v
}

func (v *vendor) say(status int, list string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.status, v.list = status, list
}

func TestListsAreFetchedAgainAndAgain(t *testing.T) {
	v := newVendor(t, "192.0.2.1:1\n192.0.2.1:2")
	r := newRig(t, "192.0.2.2:1 name=file")
	r.cfg.Proxies = append(r.cfg.Proxies, v.url)
	r.cfg.ProxiesRefresh = config.Duration(10 * time.Millisecond)
	r.start()
	members := func(want int) func() bool { return func() bool { return len(r.pool.Proxies()) == want } }
	if !members(3)() {
		t.Fatalf("%d proxies", len(r.pool.Proxies()))
	}
	v.say(200, `["192.0.2.1:1","192.0.2.1:2","192.0.2.1:3"]`)
	r.eventually("the new list is in use", members(4))
	for status, list := range map[int]string{503: "192.0.2.1:1\n", 200: "<html>log in</html>", 404: ""} {
		v.say(status, list)
		before := len(r.log.lines("list not refreshed: what it said last is used"))
		r.eventually("it was asked in vain", func() bool {
			return len(r.log.lines("list not refreshed: what it said last is used")) > before+1
		})
		if !members(4)() {
			t.Errorf("%d %s: %d proxies", status, list, len(r.pool.Proxies()))
		}
	}
	r.write("192.0.2.2:1 name=file", "192.0.2.2:2") // a file is used although a URL fails
	r.eventually("the file is in use", members(5))
	v.say(200, "192.0.2.1:9 name=nine\n")
	r.eventually("the vendor is back", members(3))
	r.stop()
	if text := r.log.String(); strings.Contains(text, "s3cret") {
		t.Errorf("the log has the secret in the URL: %s", text)
	}
}

func TestListThatCannotBeFetchedAtTheStartIsAnError(t *testing.T) {
	v := newVendor(t, "192.0.2.1:1\n")
	away := newVendor(t, "")
	away.Close()
	downgrade := httptest.NewTLSServer(http.RedirectHandler(v.url, http.StatusFound))
	defer downgrade.Close()
	circle := httptest.NewServer(http.RedirectHandler("/s3cret", http.StatusFound))
	defer circle.Close()
	for source, want := range map[string]string{
		away.url:                      "refused",
		v.URL + "/s3cret":             "answered 403",
		"http://":                     "names no host",
		"http://[s3cret":              "malformed",
		circle.URL:                    "redirects too often",
		newVendor(t, "# empty\n").url: "no usable proxy",
	} {
		_, err := ReadLists([]string{source}, breaker.DefaultSettings())
		if err == nil || !strings.HasPrefix(err.Error(), "proxies: ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	client := *listClient
	client.Transport = downgrade.Client().Transport
	resp, err := client.Get(downgrade.URL)
	if err == nil {
		_ = resp.Body.Close()
		t.Error("the secret of a list went out in the clear")
	}
	if lists, err := ReadLists([]string{v.url, v.url}, breaker.DefaultSettings()); err != nil || len(lists.Specs) != 1 || lists.Merged != 1 {
		t.Errorf("%+v, %v", lists, err)
	}
}
