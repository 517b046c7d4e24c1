package swiveltest

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Get asks the admin listener for a path. Any answer but a 200 fails the test.
func (d *Daemon) Get(t testing.TB, path string) string {
	t.Helper()
	resp, err := d.web.Get("http://" + d.Admin + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %v: %s", path, resp.Status, err, text)
	}
	return string(text)
}

// Post asks the admin API for a change, with a body of JSON, and returns the
// status and what it was told.
func (d *Daemon) Post(t testing.TB, path, body string) (status int, told string) {
	t.Helper()
	resp, err := d.web.Post("http://"+d.Admin+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return resp.StatusCode, string(text)
}

// Metric adds up all values of a metric. One with labels is not there until it
// has a value; any other that is missing fails the test.
func (d *Daemon) Metric(t testing.TB, name string) (sum float64) {
	t.Helper()
	found := false
	for text := range strings.Lines(d.Get(t, "/metrics")) {
		rest, ok := strings.CutPrefix(text, name)
		if !ok || rest[0] != '{' && rest[0] != ' ' {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(text[strings.LastIndexByte(text, ' ')+1:]), 64)
		if err != nil {
			t.Fatalf("metrics: %q: %v", text, err)
		}
		sum, found = sum+value, true
	}
	if !found && !strings.HasSuffix(name, "_total") {
		t.Fatalf("no metric %s", name)
	}
	return sum
}

// Member is a proxy as the admin API shows it.
type Member struct {
	ID, Name, State, Cause string

	Paused       bool
	InFlight     int      `json:"in_flight"`
	NextTestTime *float64 `json:"next_test_time"` // unix seconds; nil while it is closed
}

// Due is when the member may be tested, to the millisecond; the zero time while
// its breaker is closed.
func (m Member) Due() time.Time {
	if m.NextTestTime == nil {
		return time.Time{}
	}
	return time.UnixMilli(int64(math.Round(*m.NextTestTime * 1000)))
}

// Find asks the admin API for the proxies that a query fits ("state=open"), all of
// them when it is empty.
func (d *Daemon) Find(t testing.TB, query string) (all []Member) {
	t.Helper()
	if err := json.Unmarshal([]byte(d.Get(t, "/api/v1/proxies?"+query)), &all); err != nil {
		t.Fatalf("admin API: %v", err)
	}
	return all
}

// Members asks the admin API for all proxies, by name.
func (d *Daemon) Members(t testing.TB) map[string]Member {
	t.Helper()
	all := map[string]Member{}
	for _, m := range d.Find(t, "") {
		all[m.Name] = m
	}
	return all
}

// Member asks the admin API for the proxy with the name, and fails the test when
// there is none.
func (d *Daemon) Member(t testing.TB, name string) Member {
	t.Helper()
	all := d.Members(t)
	m, ok := all[name]
	if !ok {
		t.Fatalf("admin API: no proxy %q in %+v", name, all)
	}
	return m
}
