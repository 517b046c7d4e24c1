package integration

import (
	"net"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// refusal is a start that has to fail.
type refusal struct {
	name string
	code int    // the exit code: 1 for the machine's faults, 2 for what the user wrote
	want string // what the line has to say
	args func(*refusals) []string
	env  []string
}

// refusals are the files and ports that the cases use.
type refusals struct {
	dir, list, taken string
	db               string // of a daemon that runs
}

func (r *refusals) path(name string) string { return filepath.Join(r.dir, name) }

// serve is a command line that would start, with more flags.
func (r *refusals) serve(more ...string) []string {
	return append([]string{"serve", "--listen", "127.0.0.1:0", "--admin", "off", "--db", ":memory:", "--proxies", r.list}, more...)
}

var startsThatFail = []refusal{
	{name: "port in use", code: 1, want: "address already in use",
		args: func(r *refusals) []string { return r.serve("--listen", r.taken) }},
	{name: "admin port in use", code: 1, want: "admin: ",
		args: func(r *refusals) []string { return r.serve("--admin", r.taken) }},
	{name: "no such list", code: 2, want: "no such file",
		args: func(r *refusals) []string { return r.serve("--proxies", r.path("none.txt")) }},
	{name: "directory as list", code: 2, want: "is a directory",
		args: func(r *refusals) []string { return r.serve("--proxies", r.dir) }},
	{name: "empty list", code: 2, want: "no usable proxy",
		args: func(r *refusals) []string { return r.serve("--proxies", r.path("empty.txt")) }},
	{name: "list without a usable line", code: 2, want: "line 1: ",
		args: func(r *refusals) []string { return r.serve("--proxies", r.path("bad.txt")) }},
	{name: "database in no directory", code: 1, want: "does not exist",
		args: func(r *refusals) []string { return r.serve("--db", r.path("none/swivel.db")) }},
	{name: "database under a file", code: 1, want: "is not a directory",
		args: func(r *refusals) []string { return r.serve("--db", filepath.Join(r.list, "swivel.db")) }},
	{name: "database where nobody can write", code: 1, want: "cannot be written", // not even root
		args: func(r *refusals) []string { return r.serve("--db", "/proc/swivel.db") }},
	{name: "directory as database", code: 1, want: "is a directory",
		args: func(r *refusals) []string { return r.serve("--db", r.dir) }},
	{name: "second instance", code: 1, want: "is used by another swivel (pid ",
		args: func(r *refusals) []string { return r.serve("--db", r.db) }},
	{name: "unknown flag", code: 2, want: "--nosuch",
		args: func(r *refusals) []string { return r.serve("--nosuch") }},
	{name: "unknown command", code: 2, want: "nosuch",
		args: func(*refusals) []string { return []string{"nosuch"} }},
	{name: "no such configuration", code: 2, want: "no such file",
		args: func(r *refusals) []string { return r.serve("--config", r.path("none.yaml")) }},
	{name: "configuration that is no YAML", code: 2, want: "broken.yaml: line ",
		args: func(r *refusals) []string { return r.serve("--config", r.path("broken.yaml")) }},
	{name: "configuration with an unknown key", code: 2, want: "unknown key breaker.open_time",
		args: func(r *refusals) []string { return r.serve("--config", r.path("unknown.yaml")) }},
	{name: "configuration with a bad value", code: 2, want: "jitter",
		args: func(r *refusals) []string { return r.serve("--config", r.path("value.yaml")) }},
	{name: "bad value in the environment", code: 2, want: "SWIVEL_BREAKER_JITTER", env: []string{"SWIVEL_BREAKER_JITTER=much"},
		args: func(r *refusals) []string { return r.serve() }},
	{name: "open to other machines", code: 2, want: "--allow-open-proxy",
		args: func(r *refusals) []string { return r.serve("--listen", "0.0.0.0:0") }},
}

// TestStartThatFailsSaysWhy in one line, and by its exit code whose fault it is.
func TestStartThatFailsSaysWhy(t *testing.T) {
	r := newRefusals(t)
	for _, c := range startsThatFail {
		t.Run(c.name, func(t *testing.T) {
			child := swiveltest.Start(t, "swivel", swiveltest.Setup{Env: c.env}.Command(t, c.args(r)...))
			if code := child.Wait(t, 20*time.Second); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			checkComplaint(t, child.Output(t), c.want)
		})
	}
}

// hint may follow the line; logLine may precede it, for each skipped line.
var hint = regexp.MustCompile(`^Try 'swivel [a-z ]*--help'\.$`)

const logLine = `{"level":"warn",`

// noise is what only means something to whoever wrote the program.
var noise = regexp.MustCompile(`goroutine |panic|\.go:\d|%!|0x[0-9a-f]{6}|\bopen /|\b(listen|dial) tcp|errno|sqlite3?\.`)

func checkComplaint(t *testing.T, output, want string) {
	t.Helper()
	var complaints []string
	for line := range strings.Lines(output) {
		line = strings.TrimSuffix(line, "\n")
		if !hint.MatchString(line) && !strings.HasPrefix(line, logLine) {
			complaints = append(complaints, line)
		}
	}
	if len(complaints) != 1 || !strings.HasPrefix(complaints[0], "swivel: ") || !strings.Contains(complaints[0], want) {
		t.Errorf("want one line that begins with \"swivel: \" and holds %q, got:\n%s", want, output)
	}
	if found := noise.FindString(output); found != "" {
		t.Errorf("%q is noise to a user:\n%s", found, output)
	}
}

func newRefusals(t *testing.T) *refusals {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	r := &refusals{dir: t.TempDir(), taken: ln.Addr().String()}
	r.list = r.path("proxies.txt")
	for name, text := range map[string]string{
		"proxies.txt":  "127.0.0.1:1\n",
		"empty.txt":    "# nothing here\n",
		"bad.txt":      "what is this\n",
		"broken.yaml":  "listen: [\n",
		"unknown.yaml": "breaker:\n  open_time: 3s\n",
		"value.yaml":   "breaker:\n  jitter: 7\n",
	} {
		writeFile(t, r.path(name), text, 0o600)
	}
	r.db = startDaemon(t, swiveltest.Setup{Lines: []string{"127.0.0.1:1"}}).DB
	return r
}
