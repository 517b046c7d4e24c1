package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/certificate/certtest"
	"swivel/cmd/swivel/internal/config"
	"swivel/cmd/swivel/internal/systemd"
)

// check runs "config check" and returns the exit code and what it printed.
func check(t *testing.T, env map[string]string, args ...string) (code int, out, errOut string) {
	t.Helper()
	lookup := func(name string) (string, bool) { value, ok := env[name]; return value, ok }
	var o, e bytes.Buffer
	code = run(append([]string{"config", "check"}, args...), lookup, &o, &e)
	return code, o.String(), e.String()
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Each source says another address that is refused: the complaint names the
// one that counts.
func TestFlagsWinOverEnvironmentOverFileOverDefaults(t *testing.T) {
	list := write(t, "proxies.txt", "127.0.0.1:1\n")
	config := write(t, "swivel.yaml", "listen: 0.0.0.0:1\n")
	env := map[string]string{"SWIVEL_LISTEN": "0.0.0.0:2"}
	for _, c := range []struct {
		env  map[string]string
		args []string
		want string
	}{
		{nil, nil, ""},
		{nil, []string{"--config", config}, "0.0.0.0:1"},
		{env, []string{"--config", config}, "0.0.0.0:2"},
		{env, []string{"--config", config, "--listen", "0.0.0.0:3"}, "0.0.0.0:3"},
		{env, []string{"--config", config, "--listen", "127.0.0.1:3"}, ""},
		{env, []string{"--allow-open-proxy"}, ""},
		{map[string]string{"SWIVEL_LISTEN": "0.0.0.0:2", "SWIVEL_ALLOW_OPEN_PROXY": "true"}, nil, ""},
		{map[string]string{"SWIVEL_LISTEN": "0.0.0.0:2", "SWIVEL_ALLOW_OPEN_PROXY": "true"}, []string{"--allow-open-proxy=false"}, "0.0.0.0:2"},
	} {
		code, out, errOut := check(t, c.env, append(c.args, "--proxies", list)...)
		switch {
		case c.want == "" && (code != exitOK || out != "ok: 1 proxy, 0 lines skipped, 0 duplicates merged\n"):
			t.Errorf("%v, %q: exit code %d: %s%s", c.env, c.args, code, out, errOut)
		case c.want != "" && (code != exitUsage || !strings.HasPrefix(errOut, "swivel: listen: "+c.want+" ")):
			t.Errorf("%v, %q: exit code %d: %s", c.env, c.args, code, errOut)
		}
	}
}

func TestUsersAreCheckedWithEverythingElse(t *testing.T) {
	list, users := write(t, "proxies.txt", "192.0.2.1:1\n"), write(t, "users", "alice:s3cret\n")
	code, _, errOut := check(t, map[string]string{"SWIVEL_LIMITS_CLIENT_RATE": "-1"},
		"--proxies", list, "--users-file", users, "--user", "bob:s3cret", "--user", "carol", "--admin", "0.0.0.0:1")
	want := []string{"admin: ", "limits.client_rate: ", "users: entry 1: ", "users: entry 2: ", "users_file: " + users + ": line 1: "}
	for _, w := range want {
		if !strings.Contains(errOut, "swivel: "+w) {
			t.Errorf("no %q in %s", w, errOut)
		}
	}
	if code != exitUsage || strings.Count(errOut, "\n") != len(want) || strings.Contains(errOut, "s3cret") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	const hash = ":$2y$05$......................" + "..............................." // of no password that is known
	if code, _, errOut := check(t, map[string]string{"SWIVEL_USERS": "alice" + hash + ", bob" + hash}, "--proxies", list, "--listen", "0.0.0.0:1"); code != exitOK {
		t.Errorf("exit code %d: %s", code, errOut)
	}
}

func TestCertificateIsCheckedWithEverythingElse(t *testing.T) {
	list := write(t, "proxies.txt", "192.0.2.1:1\n")
	cert, key := certtest.Pair(t, "swivel.test", time.Time{}, time.Date(2020, 1, 2, 3, 4, 0, 0, time.UTC))
	_, other := certtest.Pair(t, "other.test", time.Time{}, time.Now().Add(time.Hour))
	certFile, keyFile, otherFile := write(t, "cert.pem", string(cert)), write(t, "key.pem", string(key)), write(t, "other.pem", string(other))
	for _, c := range []struct {
		key, listen, out, errOut string
		code                     int
	}{
		{keyFile, "127.0.0.1:1", "warning: tls_cert: the certificate expired on 2020-01-02 03:04 UTC: clients will not accept it\nok: ", "", exitOK},
		{otherFile, "127.0.0.1:1", "", "swivel: tls_key: " + otherFile + " is not the key of the first certificate in " + certFile + "\n", exitUsage},
		{keyFile, "0.0.0.0:1", "", "swivel: listen: 0.0.0.0:1 can be reached", exitUsage}, // TLS says who swivel is, not who the client is
	} {
		code, out, errOut := check(t, map[string]string{"SWIVEL_TLS_CERT": certFile}, "--tls-key", c.key, "--listen", c.listen, "--proxies", list)
		if code != c.code || !strings.HasPrefix(out, c.out) || !strings.HasPrefix(errOut, c.errOut) || c.code == exitUsage && out != "" {
			t.Errorf("%+v: exit code %d: %s%s", c, code, out, errOut)
		}
	}
}

func TestCheckSaysWhatLinesBecome(t *testing.T) {
	list := write(t, "proxies.txt", "h:1\nu-{session}:s3cret-{country}@h:2-4\nh:10-19\nbad\n")
	code, out, errOut := check(t, nil, "--proxies", list)
	want := list + ": line 4: the address has no port\n" +
		list + ": 2 lines with a range of ports are 13 proxies\n" +
		list + ": line 2: its credentials are a template: {session}, {country}\n" +
		"ok: 14 proxies, 1 line skipped, 0 duplicates merged\n"
	if code != exitOK || out != want {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
}

func TestCheckSaysWhichColumnsAreNotUsed(t *testing.T) {
	list := write(t, "proxies.csv", "ip,port,anonymity\n192.0.2.1,80,elite\n")
	code, out, errOut := check(t, nil, "--proxies", list)
	want := list + ": columns that mean nothing here: \"anonymity\"\nok: 1 proxy, 0 lines skipped, 0 duplicates merged\n"
	if code != exitOK || out != want {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
}

func TestCheckCountsWhatIsSkippedByReason(t *testing.T) {
	list := write(t, "clash.yaml", "proxies:\n- {type: ss}\n- {type: vmess}\n- {type: ss}\n- {type: http, server: h, port: 1}\n")
	code, out, errOut := check(t, nil, "--proxies", list)
	want := "skipped: 2 × type ss is not supported; 1 × type vmess is not supported\nok: 1 proxy, 3 lines skipped, 0 duplicates merged\n"
	if code != exitOK || !strings.HasSuffix(out, want) || strings.Count(out, "\n") != 5 {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
}

func TestProblemsOfAllSourcesAreTogether(t *testing.T) {
	config := write(t, "swivel.yaml", "listn: x\nbreaker: {jitter: much}\n")
	code, _, errOut := check(t, map[string]string{"SWIVEL_GRACE": "later", "SWIVEL_LIMITS_CONNECTIONS": "0", "SWIVEL_LOG_FORMAT": "prose"},
		"--config", config, "--admin", "0.0.0.0:1", "--log-level", "loud", "--proxies", filepath.Join(t.TempDir(), "missing.txt"))
	if code != exitUsage {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"unknown key listn", "line 2: ", "SWIVEL_GRACE: ", "limits.connections: ", "admin: ", "log.level: ", "missing.txt: no such file"} {
		if strings.Count(errOut, want) != 1 {
			t.Errorf("want %q once in\n%s", want, errOut)
		}
	}
	for line := range strings.Lines(errOut) {
		if !strings.HasPrefix(line, "swivel: ") {
			t.Errorf("a problem takes more than a line: %q", line)
		}
	}
}

func TestNothingIsClaimedOfAFileThatCannotBeRead(t *testing.T) {
	for text, want := range map[string]string{
		"proxies: [a?b=c]\nlisten: 0.0.0.0:1\n":          "line 1: did not find expected",
		"proxies: {a: b}\nusers: {alice: hash}\n":        "line 1: proxies: want a list",
		"log: {level: loud, format: xml}\nproxies: []\n": "log.level: ",
	} {
		config := write(t, "swivel.yaml", text)
		code, _, errOut := check(t, map[string]string{"SWIVEL_LISTEN": "0.0.0.0:1"}, "--config", config)
		noList := strings.Contains(errOut, "no list given")
		if code != exitUsage || !strings.Contains(errOut, want) || noList != strings.Contains(text, "proxies: []") {
			t.Errorf("%q: exit code %d: %s", text, code, errOut)
		}
		if strings.Contains(text, "log:") != strings.Contains(errOut, "can be reached") {
			t.Errorf("%q: who may come in is not known: %s", text, errOut)
		}
		if strings.Contains(text, "log:") != strings.Contains(errOut, "log.format: ") {
			t.Errorf("%q: the format is not reported: %s", text, errOut)
		}
	}
}

func TestMisspeltVariableIsNamedByCheck(t *testing.T) {
	t.Setenv("SWIVEL_BREAKER_OPEN_TIMOUT", "4")
	code, out, errOut := check(t, nil, "--proxies", write(t, "proxies.txt", "127.0.0.1:1\n"))
	if code != exitOK || !strings.HasPrefix(out, "warning: SWIVEL_BREAKER_OPEN_TIMOUT is no variable") || !strings.Contains(out, "\nok: ") {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
}

func TestVersionIsAFlagToo(t *testing.T) {
	var texts [2]bytes.Buffer
	for i, word := range []string{"version", "--version"} {
		var errOut bytes.Buffer
		if code := run([]string{word}, os.LookupEnv, &texts[i], &errOut); code != exitOK || errOut.Len() > 0 {
			t.Errorf("%s: exit code %d: %s", word, code, &errOut)
		}
	}
	if texts[0].String() != texts[1].String() || !strings.HasPrefix(texts[1].String(), "swivel ") {
		t.Errorf("%q, %q", &texts[0], &texts[1])
	}
}

// A start would have used the list that was kept, with a warning.
func TestCheckAcceptsAKeptListAsAStartDoes(t *testing.T) {
	var down atomic.Bool
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "192.0.2.1:1\n")
	}))
	t.Cleanup(vendor.Close)
	r := newRigOf(t, vendor.URL)
	down.Store(true)
	code, out, errOut := check(t, nil, "--proxies", vendor.URL, "--db", r.next.DB)
	if code != exitOK || !strings.HasPrefix(out, "warning: "+vendor.URL+"/…: cannot be fetched: the server answered 503: what it said last is used\nok: 1 proxy") {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
	if code, _, errOut := check(t, nil, "--proxies", vendor.URL, "--db", ":memory:"); code != exitUsage || !strings.Contains(errOut, "503") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
}

func TestCheckPassedAListedProxyThatIsSwivelItself(t *testing.T) {
	const other = "192.0.2.1:1\n"
	for _, test := range []struct {
		list, listen, admin string
		own                 string // the warning's beginning
	}{
		{other + "127.0.0.1:8484 name=oops\n", "127.0.0.1:8484", "off", "oops is not used: its address, 127.0.0.1:8484, is swivel's own"},
		{other + "u:s3cret@localhost:8484\n", "127.0.0.1:8484", "off", "localhost:8484 is not used"},
		{other + "127.0.0.1:8484\n", "localhost:8484", "off", "127.0.0.1:8484 is not used"},
		{other + "127.0.0.1:8485\n", "127.0.0.1:8484", "127.0.0.1:8485", "127.0.0.1:8485 is not used"},
		{other + "[::1]:8484\n", ":8484", "off", "[::1]:8484 is not used"},
		{other + "127.0.0.1:8485\n", "127.0.0.1:8484", "off", ""},
		{other + "127.0.0.2:8484\n", "127.0.0.1:8484", "off", ""},
		{other + "127.0.0.1:1\n", "127.0.0.1:0", "off", ""},
	} {
		code, out, errOut := check(t, map[string]string{"SWIVEL_ALLOW_OPEN_PROXY": "true"}, "--listen", test.listen, "--admin", test.admin, "--proxies", write(t, "proxies.txt", test.list))
		want := "ok: 2 proxies,"
		if test.own != "" {
			want = "ok: 1 proxy,"
		}
		warned := strings.HasPrefix(out, "warning: "+test.own) && strings.Count(out, "\n") == 2
		if code != exitOK || !strings.Contains(out, want) || warned != (test.own != "") || strings.Contains(out, "s3cret") {
			t.Errorf("%q on %s: exit code %d: %s%s", test.list, test.listen, code, out, errOut)
		}
	}
	code, out, errOut := check(t, nil, "--listen", "127.0.0.1:8484", "--proxies", write(t, "proxies.txt", "127.0.0.1:8484\n"))
	if code != exitUsage || errOut != "swivel: proxies: the only proxies listed are swivel itself\n" || strings.Contains(out, "ok: ") {
		t.Errorf("nobody else: exit code %d: %s%s", code, out, errOut)
	}
}

func TestArgumentsThatCannotBeUsedNameTheHelpThatTells(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	for args, want := range map[string]string{
		"":                     "Try 'swivel --help'.",
		"serv":                 "Try 'swivel --help'.",
		"--listen 127.0.0.1:1": "Flags come behind a command, such as 'swivel serve'. Try 'swivel --help'.",
		"serve --lisen x":      "Try 'swivel serve --help'.",
		"config":               "Try 'swivel config --help'.",
		"config print --x":     "Try 'swivel config print --help'.",
		"pause a":              "Try 'swivel pause --help'.",
		"completion zz":        "Try 'swivel completion --help'.",
	} {
		var out, errOut strings.Builder
		code := run(strings.Fields(args), none, &out, &errOut)
		if code != exitUsage || !strings.HasPrefix(errOut.String(), "swivel: ") || !strings.HasSuffix(errOut.String(), "\n"+want+"\n") {
			t.Errorf("swivel %s: exit code %d: %s", args, code, errOut.String())
		}
	}
}

// A service manager that stops swivel while it still waits for its list took that
// for a failure, and if the list is a pipe, waited for half a minute.
func TestStopDuringTheStartIsNoFailure(t *testing.T) {
	asked := make(chan struct{}, 1)
	vendor := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer vendor.Close()
	pipe := filepath.Join(t.TempDir(), "list")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{vendor.URL, pipe} {
		cfg := config.Default()
		cfg.Proxies, cfg.DB, cfg.Listen, cfg.Admin = []string{list}, ":memory:", "127.0.0.1:0", "off"
		ctx, stop := context.WithCancel(t.Context())
		if list == pipe {
			stop()
		} else {
			go func() { <-asked; stop() }()
		}
		began := time.Now()
		if err := serve(ctx, cfg, nil, systemd.Sockets{}, streams{errOut: io.Discard}); err != nil || time.Since(began) > 10*time.Second {
			t.Errorf("%s: %v after %v", list, err, time.Since(began))
		}
		stop()
	}
}
