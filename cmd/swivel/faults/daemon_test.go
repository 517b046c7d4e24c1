package faults

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// setup is how a daemon is started.
type setup struct {
	host  string   // where clients connect; 127.0.0.1 when empty
	dir   string   // where list and database are; a new folder when empty
	lines []string // of the proxy list
	env   []string
	shell string               // done by a shell, which the daemon then takes the place of
	attr  *syscall.SysProcAttr // nil: none
	in    *network             // nil: that of the test
}

// daemon is a running swivel.
type daemon struct {
	*child
	dir, list, db string
	listen, admin string // host:port
	web           *http.Client
}

// startDaemon returns once the daemon says that it is ready.
func startDaemon(t *testing.T, s setup) *daemon {
	t.Helper()
	d := launch(t, s)
	eventually(t, 30*time.Second, "swivel is ready", func() bool {
		if d.endsWithin(0) {
			t.Fatalf("swivel ended: %s", d.output(t))
		}
		for _, l := range d.lines(t, "ready") {
			d.listen, d.admin = l.Listen, l.Admin
		}
		return d.listen != ""
	})
	return d
}

// launch starts a daemon, which may not get far.
func launch(t *testing.T, s setup) *daemon {
	t.Helper()
	if s.dir == "" {
		s.dir = t.TempDir()
	}
	d := &daemon{dir: s.dir, list: filepath.Join(s.dir, "proxies.txt"), db: filepath.Join(s.dir, "swivel.db")}
	if s.lines != nil {
		d.write(t, s.lines)
	}
	args := []string{program(t), "serve", "--proxies", d.list, "--db", d.db, "--listen", cmp.Or(s.host, "127.0.0.1") + ":0", "--admin", "127.0.0.1:0"}
	if s.shell != "" {
		args = append([]string{"/bin/sh", "-c", s.shell + ` && exec "$0" "$@"`}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	// Without what could change its course: proxy variables, SWIVEL_*. The race
	// detector would delay the end by a second.
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "GORACE=atexit_sleep_ms=50"}, s.env...)
	cmd.Dir, cmd.SysProcAttr = s.dir, s.attr
	d.web = &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: s.in.dial}}
	d.child = start(t, cmd, s.in)
	t.Cleanup(func() {
		d.stop(t) // an earlier cleanup has done so, if nobody else: they run last first
		d.checkOutput(t)
	})
	return d
}

// write makes the list, in one step.
func (d *daemon) write(t *testing.T, lines []string) {
	t.Helper()
	next := d.list + ".next"
	err := os.WriteFile(next, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
	if err == nil {
		err = os.Rename(next, d.list)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// crash is what no log may ever hold.
var crash = regexp.MustCompile(`(?m)^WARNING: DATA RACE$|^panic: |^fatal error: |^goroutine \d+|a bug in swivel`)

func (d *daemon) checkOutput(t *testing.T) {
	t.Helper()
	output := d.output(t)
	if at := crash.FindStringIndex(output); at != nil {
		t.Errorf("the output of swivel: %.4000s", output[at[0]:])
	}
	if t.Failed() {
		rare := slices.DeleteFunc(strings.Split(output, "\n"), func(l string) bool {
			return strings.Contains(l, `"message":"exchange"`) && !strings.Contains(l, `"code"`)
		})
		t.Logf("what swivel said beside exchanges that were served:\n%.6000s\nand the end: %s", strings.Join(rare, "\n"), output[max(0, len(output)-2000):])
	}
}

// line is one of the log.
type line struct {
	Message, Level string
	Time           time.Time
	Error          string
	Listen, Admin  string

	Kind     string
	Target   string
	Status   int
	Code     string
	Session  string
	Took     float64 `json:"took_ms"`
	Attempts []attempt

	Proxy, From, To string
	Added, Removed  int
	Failures        int `json:"failed_writes"`
}

// attempt is one of an exchange.
type attempt struct {
	Proxy   string
	Name    string `json:"proxy_name"`
	Signal  string
	Outcome string
}

// began is when the exchange of a line did.
func (l line) began() time.Time {
	return l.Time.Add(-time.Duration(l.Took * float64(time.Millisecond)))
}

// lines are those of the log so far that have the message. One that is still
// being written, or that a kill has cut short, is left out.
func (d *daemon) lines(t *testing.T, message string) (all []line) {
	t.Helper()
	for text := range strings.Lines(d.output(t)) {
		var l line
		if strings.HasSuffix(text, "\n") && strings.Contains(text, message) && json.Unmarshal([]byte(text), &l) == nil && strings.HasPrefix(l.Message, message) {
			all = append(all, l)
		}
	}
	return all
}

// logIsComplete waits until all exchanges that are over are in the log, which is
// written some of them at a time.
func (d *daemon) logIsComplete(t *testing.T) {
	t.Helper()
	over := int(d.metric(t, "swivel_exchanges_total"))
	eventually(t, 10*time.Second, "the log is complete", func() bool { return len(d.lines(t, "exchange")) >= over })
}

// member is a proxy as the admin API shows it.
type member struct {
	ID           string
	Name         string
	State        string
	NextTestTime *float64 `json:"next_test_time"`
	Paused       bool
	InFlight     int `json:"in_flight"`
}

// members asks the admin API for all proxies, by name.
func (d *daemon) members(t *testing.T) map[string]member {
	t.Helper()
	var list []member
	if err := json.Unmarshal([]byte(d.get(t, "/api/v1/proxies")), &list); err != nil {
		t.Fatal(err)
	}
	all := map[string]member{}
	for _, m := range list {
		all[m.Name] = m
	}
	return all
}

func (d *daemon) get(t *testing.T, path string) string {
	t.Helper()
	resp, err := d.web.Get("http://" + d.admin + path)
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

// post asks for a change, and returns the status.
func (d *daemon) post(t *testing.T, path, body string) int {
	t.Helper()
	resp, err := d.web.Post("http://"+d.admin+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// metric adds up all values of a metric. One with labels is not there until it
// has a value.
func (d *daemon) metric(t *testing.T, name string) (sum float64) {
	t.Helper()
	found := false
	for text := range strings.Lines(d.get(t, "/metrics")) {
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

// held is what a daemon holds while nobody asks anything of it.
type held struct{ files, goroutines int }

func (h held) String() string {
	return fmt.Sprintf("%d descriptors, %d goroutines", h.files, h.goroutines)
}

func (d *daemon) holds(t *testing.T) held {
	t.Helper()
	return held{d.files(t), int(d.metric(t, "go_goroutines"))}
}

// settles waits until the daemon holds hardly more than it did once. Workers that
// wait for more to do, and a connection of the look itself, come and go.
func (d *daemon) settles(t *testing.T, limit time.Duration, before held) held {
	t.Helper()
	var now held
	deadline := time.Now().Add(limit)
	for {
		now = d.holds(t)
		if now.files <= before.files+4 && now.goroutines <= before.goroutines+10 && d.metric(t, "swivel_in_flight_attempts") == 0 {
			return now
		}
		if time.Now().After(deadline) {
			t.Errorf("after %v it holds %v and carries %v, before it held %v", limit, now, d.metric(t, "swivel_in_flight_attempts"), before)
			return now
		}
		pass(50 * time.Millisecond)
	}
}
