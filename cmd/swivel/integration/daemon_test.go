package integration

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// daemon is a running swivel.
type daemon struct {
	*child
	listen, admin string // host:port
	list, db      string // files
}

// setup is how a daemon is started.
type setup struct {
	lines []string // of the proxy list
	dir   string   // where list and database are; a new folder when empty
	env   []string // beside a few that every program needs

	// sockets are handed over as a service manager does, under these names.
	sockets     []*os.File
	socketNames string // separated by colons
}

// startDaemon starts a daemon on ports that the system gives, and returns once
// it says that it is ready.
func startDaemon(t testing.TB, s setup) *daemon {
	t.Helper()
	if s.dir == "" {
		s.dir = t.TempDir()
	}
	d := &daemon{list: filepath.Join(s.dir, "proxies.txt"), db: filepath.Join(s.dir, "swivel.db")}
	writeFile(t, d.list, strings.Join(s.lines, "\n")+"\n", 0o600)
	cmd := s.command(program(t), "serve", "--proxies", d.list, "--db", d.db, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	d.child = start(t, "swivel", cmd)
	t.Cleanup(func() { d.checkOutput(t) })
	var ready readyLine
	eventually(t, 20*time.Second, "swivel is ready", func() bool {
		if !d.running() {
			t.Fatalf("swivel ended: %s", d.output(t))
		}
		found := d.lines(t, "ready", func(line []byte) { _ = json.Unmarshal(line, &ready) })
		return found > 0
	})
	d.listen, d.admin = ready.Listen, ready.Admin
	return d
}

// command has a shell say for whom the sockets are, since only the process itself
// knows its number.
func (s setup) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", append([]string{"-c", `LISTEN_PID=$$ exec "$0" "$@"`, program}, args...)...)
	if len(s.sockets) == 0 {
		cmd = exec.Command(program, args...)
	}
	cmd.Env = append(plainEnv(), s.env...)
	cmd.Env = append(cmd.Env, "LISTEN_FDS="+strconv.Itoa(len(s.sockets)), "LISTEN_FDNAMES="+s.socketNames)
	cmd.ExtraFiles = s.sockets
	return cmd
}

type readyLine struct {
	Listen string `json:"listen"`
	Admin  string `json:"admin"`
}

// plainEnv is an environment without what could change the course of a
// program: proxy variables, SWIVEL_*. The race detector would delay the end of
// every process by a second.
func plainEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir(), "LANG=C.UTF-8", "GORACE=atexit_sleep_ms=50"}
}

// lines calls f with each line of the log that has the message, and returns
// how many there were. A line that is still being written is left out.
func (d *daemon) lines(t testing.TB, message string, f func([]byte)) (n int) {
	t.Helper()
	for line := range strings.Lines(d.output(t)) {
		var head struct{ Message string }
		if !strings.HasSuffix(line, "\n") || json.Unmarshal([]byte(line), &head) != nil || head.Message != message {
			continue
		}
		n++
		f([]byte(line))
	}
	return n
}

// crash is what no log may ever hold.
var crash = regexp.MustCompile(`(?m)^WARNING: DATA RACE$|^panic: |^fatal error: |^goroutine \d+`)

func (d *daemon) checkOutput(t testing.TB) {
	if found := crash.FindString(d.output(t)); found != "" {
		t.Errorf("the output of swivel holds %q:\n%s", found, d.output(t))
	}
}

// exchange is a line of the log about one client request.
type exchange struct {
	Status   int
	Code     string
	Attempts []attempt
}

type attempt struct {
	Proxy, Signal, Outcome string
	Probe                  bool
}

// attemptsOf returns the logged attempts that used the proxy.
func (d *daemon) attemptsOf(t testing.TB, id string) (of []attempt) {
	t.Helper()
	d.awaitLog(t)
	d.lines(t, "exchange", func(line []byte) {
		var x exchange
		if err := json.Unmarshal(line, &x); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		for _, a := range x.Attempts {
			if a.Proxy == id {
				of = append(of, a)
			}
		}
	})
	return of
}

// awaitLog waits until all exchanges that are over are in the log, which is
// written some of them at a time. What a killed daemon has not written stays out.
func (d *daemon) awaitLog(t testing.TB) {
	t.Helper()
	over, running := d.exchangesOver(t)
	if !running {
		return
	}
	eventually(t, 10*time.Second, "the log is complete", func() bool { return d.lines(t, "exchange", func([]byte) {}) >= over })
}

// exchangesOver asks a daemon that runs how many exchanges it has counted.
func (d *daemon) exchangesOver(t testing.TB) (n int, running bool) {
	t.Helper()
	text, err := d.metrics()
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "swivel_exchanges_total{") {
			value, err := strconv.Atoi(strings.TrimSpace(line[strings.LastIndexByte(line, ' ')+1:]))
			if err != nil {
				t.Fatalf("metrics: %q: %v", line, err)
			}
			n += value
		}
	}
	return n, true
}

func (d *daemon) metrics() (string, error) {
	resp, err := http.Get("http://" + d.admin + "/metrics")
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// member is a proxy as the admin API shows it.
type member struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	State        string   `json:"state"`
	Cause        string   `json:"cause"`
	NextTestTime *float64 `json:"next_test_time"`
}

// due is when the member may be tested.
func (m member) due() time.Time {
	if m.NextTestTime == nil {
		return time.Time{}
	}
	return time.UnixMilli(int64(*m.NextTestTime * 1000))
}

// members asks the admin API for all proxies.
func (d *daemon) members(t testing.TB) []member {
	t.Helper()
	return d.find(t, "")
}

// find asks the admin API for the proxies that a query fits.
func (d *daemon) find(t testing.TB, query string) (all []member) {
	t.Helper()
	resp, err := http.Get("http://" + d.admin + "/api/v1/proxies?" + query)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		t.Fatalf("admin API: %s: %v", resp.Status, err)
	}
	return all
}

// member asks the admin API for the proxy with the name.
func (d *daemon) member(t testing.TB, name string) member {
	t.Helper()
	all := d.members(t)
	for _, m := range all {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("admin API: no proxy %q in %+v", name, all)
	return member{}
}
