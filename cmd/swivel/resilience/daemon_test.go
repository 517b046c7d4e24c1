package resilience

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// daemon is a running swivel.
type daemon struct {
	*child
	listen, admin string // host:port
}

// startDaemon starts a daemon with the list and database in dir, on ports that
// the system gives, and returns once it says that it is ready.
func startDaemon(t *testing.T, dir string, env []string) *daemon {
	t.Helper()
	cmd := exec.Command(program(t), "serve", "--proxies", filepath.Join(dir, "proxies.txt"), "--db", filepath.Join(dir, "swivel.db"),
		"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	// Without what could change its course: proxy variables, SWIVEL_*. The race
	// detector would delay the end by a second.
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GORACE=atexit_sleep_ms=50"}, env...)
	d := &daemon{child: start(t, cmd)}
	t.Cleanup(func() { d.checkOutput(t) }) // after an earlier cleanup has stopped it: they run last first
	d.awaitReady(t)
	return d
}

func (d *daemon) awaitReady(t *testing.T) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		for _, line := range d.lines(t) {
			if line.Message == "ready" {
				d.listen, d.admin = line.Listen, line.Admin
				return
			}
		}
		if !d.running() {
			t.Fatalf("swivel ended: %s", d.output(t))
		}
		select {
		case <-again.C:
		case <-deadline:
			t.Fatalf("swivel is not ready: %s", d.output(t))
		}
	}
}

// crash is what no log may ever hold.
var crash = regexp.MustCompile(`(?m)^WARNING: DATA RACE$|^panic: |^fatal error: |^goroutine \d+`)

func (d *daemon) checkOutput(t *testing.T) {
	t.Helper()
	output := d.output(t)
	if at := crash.FindStringIndex(output); at != nil {
		t.Errorf("the output of swivel: %.4000s", output[at[0]:])
	}
}

// line is one of the log: of an exchange, of a change of a breaker, or that the
// daemon is ready.
type line struct {
	Message       string
	Time          time.Time
	Listen, Admin string

	Target   string
	Status   int
	Opened   float64 `json:"opened_ms"`
	Took     float64 `json:"took_ms"`
	Attempts []struct {
		Proxy  string `json:"proxy_name"`
		Signal string
		Probe  bool
	}

	Proxy          string `json:"proxy_name"`
	From, To, Rule string
}

// began is when the exchange of a line did.
func (l line) began() time.Time {
	return l.Time.Add(-time.Duration(l.Took * float64(time.Millisecond)))
}

// onlyProbeIsBad says whether an exchange carried a probe, and all its other
// attempts served.
func (l line) onlyProbeIsBad() bool {
	probes := 0
	for _, a := range l.Attempts {
		if a.Probe {
			probes++
		} else if a.Signal != "first_byte" {
			return false
		}
	}
	return probes > 0
}

// lines returns the log so far. A line that is still being written, or that a
// kill has cut short, is left out.
func (d *daemon) lines(t *testing.T) (all []line) {
	t.Helper()
	for text := range strings.Lines(d.output(t)) {
		var l line
		if strings.HasSuffix(text, "\n") && json.Unmarshal([]byte(text), &l) == nil {
			all = append(all, l)
		}
	}
	return all
}

// member is a proxy as the admin API shows it.
type member struct {
	Name         string   `json:"name"`
	State        string   `json:"state"`
	Cause        string   `json:"cause"`
	NextTestTime *float64 `json:"next_test_time"`
}

// restsUntil is when the proxy may be tried again; the zero time when it may
// at any time.
func (m member) restsUntil() time.Time {
	if m.State != "open" || m.NextTestTime == nil {
		return time.Time{}
	}
	return time.UnixMilli(int64(*m.NextTestTime * 1000))
}

// members asks the admin API for all proxies.
func (d *daemon) members(t *testing.T) map[string]member {
	t.Helper()
	resp, err := http.Get("http://" + d.admin + "/api/v1/proxies")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list []member
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		t.Fatalf("admin API: %s: %v", resp.Status, err)
	}
	all := map[string]member{}
	for _, m := range list {
		all[m.Name] = m
	}
	return all
}
