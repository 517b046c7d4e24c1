package integration

import (
	"bytes"
	"context"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// loginTest is a daemon that serves the users of a file which Apache's own tool
// has made, with one upstream in each of two countries.
type loginTest struct {
	origin *origin
	daemon *daemon
	users  string // the file
	from   map[string]string
}

// The user's password holds what separates the parts of credentials and of URLs,
// but for %: curl decodes that twice when it has waited for the challenge.
const (
	loginUser     = "crawler-prod"
	loginPassword = "p:w@/ SeCrEtLogin7Qz"
)

func newLoginTest(t *testing.T) *loginTest {
	l := &loginTest{origin: newOrigin(t), users: filepath.Join(t.TempDir(), "users")}
	writeFile(t, l.users, "", 0o600)
	l.setPassword(t, loginUser, loginPassword)
	de, us := startMicrosocks(t, nil), startTinyproxy(t, nil)
	l.from = map[string]string{"de": de.source, "us": us.source}
	l.daemon = startDaemon(t, setup{
		lines: []string{de.line + " country=de", us.line + " country=us"},
		env:   []string{"SWIVEL_USERS_FILE=" + l.users},
	})
	return l
}

func (l *loginTest) setPassword(t *testing.T, user, password string) {
	t.Helper()
	htpasswd := installed(t, "htpasswd", "apache2-utils")
	if out, err := exec.Command(htpasswd, "-b", "-B", "-C", "6", l.users, user, password).CombinedOutput(); err != nil {
		t.Fatalf("htpasswd: %v: %s", err, out)
	}
}

// proxy is the daemon's URL with credentials.
func (l *loginTest) proxy(scheme, user, password string) string {
	u := url.URL{Scheme: scheme, Host: l.daemon.listen}
	if user != "" {
		u.User = url.UserPassword(user, password)
	}
	return u.String()
}

// TestClientsLogIn: the routing keys in the user name decide where each client's
// requests leave, and without the password none of them leaves.
func TestClientsLogIn(t *testing.T) {
	l := newLoginTest(t)
	for _, c := range fetchers(t) {
		t.Run(c.name, func(t *testing.T) {
			for _, base := range []string{l.origin.http, l.origin.https} {
				for country, source := range l.from {
					proxy := l.proxy("http", loginUser+"-country-"+country+"-session-"+c.name, loginPassword)
					if got := strings.TrimSpace(c.fetch(t, l.origin, proxy, base+"/ip", "")); got != source {
						t.Errorf("%s: country %s was asked for, and the request left from %s", base, country, got)
					}
					upload := strings.Repeat("swivel ", 5000)
					if got := c.fetch(t, l.origin, proxy, base+"/echo", upload); got != upload {
						t.Errorf("%s: of %d bytes %d came back", base, len(upload), len(got))
					}
				}
			}
		})
	}
	t.Run("curl as it likes", l.curlWays)
	t.Run("without the password", l.strangers)
	t.Run("a changed file", l.changes)
	if out := l.daemon.output(t); strings.Contains(out, "SeCrEt") || !strings.Contains(out, `"user":"`+loginUser+`"`) {
		t.Errorf("the log shows passwords, or no users:\n%s", out)
	}
}

// curlWays are the other ways in which curl logs in.
func (l *loginTest) curlWays(t *testing.T) {
	login := loginUser + ";country=de;session=a1:" + loginPassword
	for name, args := range map[string][]string{
		"--proxy-user":                    {"--proxy", "http://" + l.daemon.listen, "--proxy-user", login},
		"waiting for the challenge":       {"--proxy", "http://" + l.daemon.listen, "--proxy-user", login, "--proxy-anyauth"},
		"waiting, with a body":            {"--proxy", "http://" + l.daemon.listen, "--proxy-user", login, "--proxy-anyauth", "--data", "x=1"},
		"socks5h":                         {"--proxy", l.proxy("socks5h", loginUser+"-country-de", loginPassword)},
		"socks5, --proxy-user":            {"--proxy", "socks5h://" + l.daemon.listen, "--proxy-user", login},
		"routing field, where curl can":   {"--proxy", l.proxy("http", loginUser, loginPassword), "--proxytunnel", "--proxy-header", "X-Swivel-Route: country=de"},
		"tunnel for a plain target, too":  {"--proxy", l.proxy("http", loginUser+"-cc-DE", loginPassword), "--proxytunnel"},
		"SOCKS address instead of a name": {"--proxy", l.proxy("socks5", loginUser+"-country-de", loginPassword)},
	} {
		for _, base := range []string{l.origin.http, l.origin.https} {
			got := strings.Fields(l.curl(t, 0, append(args, "-w", " %{num_connects}", base+"/ip")...))
			if len(got) != 2 || got[0] != l.from["de"] || got[1] != "1" {
				t.Errorf("%s, %s: left from and connections %q, want %s 1", name, base, got, l.from["de"])
			}
		}
	}
}

// strangers are turned away in a way that their programs understand.
func (l *loginTest) strangers(t *testing.T) {
	for _, c := range []struct{ user, password string }{{"", ""}, {loginUser, "wrong"}, {"eve", loginPassword}, {loginUser + "-country-de", "wrong"}} {
		http, socks := l.proxy("http", c.user, c.password), l.proxy("socks5h", c.user, c.password)
		if got := l.curl(t, 0, "--proxy", http, "-o", "/dev/null", "-w", "%{http_code}", l.origin.http+"/ip"); got != "407" {
			t.Errorf("%s: plain: %s", c.user, got)
		}
		if got := l.curl(t, 56, "--proxy", http, "-w", "%{http_connect}", l.origin.https+"/ip"); got != "407" {
			t.Errorf("%s: CONNECT: %s", c.user, got)
		}
		l.curl(t, 97, "--proxy", socks, l.origin.https+"/ip")
	}
	for _, library := range []string{"requests", "httpx"} {
		for _, base := range []string{l.origin.http, l.origin.https} {
			_, told, err := l.run(t, python, "testdata/fetch.py", library, l.proxy("http", loginUser, "wrong"), l.origin.ca.file, base+"/ip")
			if err == nil || !strings.Contains(told, "407") {
				t.Errorf("%s, %s: %v: %s", library, base, err, told)
			}
		}
	}
	if got := l.curl(t, 56, "--proxy", l.proxy("http", loginUser+"-contry-de", loginPassword), "-w", "%{http_connect}", l.origin.https+"/ip"); got != "400" {
		t.Errorf("a bad routing key: %s", got)
	}
}

// changes of the file count from the next SIGHUP on; one that cannot be used
// leaves everything as it is.
func (l *loginTest) changes(t *testing.T) {
	status := func(password string) string {
		return l.curl(t, 0, "--proxy", l.proxy("http", loginUser, password), "-o", "/dev/null", "-w", "%{http_code}", l.origin.http+"/ip")
	}
	reload := func(message string) {
		t.Helper()
		before := l.daemon.lines(t, message, func([]byte) {})
		l.daemon.signal(t, syscall.SIGHUP)
		eventually(t, 10*time.Second, message, func() bool { return l.daemon.lines(t, message, func([]byte) {}) > before })
	}
	l.setPassword(t, loginUser, "next SeCrEt")
	reload("users reloaded")
	if before, after := status(loginPassword), status("next SeCrEt"); before != "407" || after != "200" {
		t.Errorf("the old password: %s, the new one: %s", before, after)
	}
	writeFile(t, l.users, loginUser+":SeCrEt in the clear\n", 0o600)
	reload("reload of the users refused: the old ones stay")
	if got := status("next SeCrEt"); got != "200" {
		t.Errorf("with a broken file: %s", got)
	}
}

// curl returns what it prints, and wants the exit code.
func (l *loginTest) curl(t *testing.T, code int, args ...string) string {
	t.Helper()
	all := append([]string{"-sS", "--max-time", "20", "--noproxy", "", "--cacert", l.origin.ca.file}, args...)
	out, told, err := l.run(t, installed(t, "curl", "curl"), all...)
	got := 0
	if exit, ok := err.(*exec.ExitError); ok {
		got = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if got != code {
		t.Errorf("curl %q: exit code %d, want %d: %s%s", args, got, code, out, told)
	}
	return out
}

func (l *loginTest) run(t *testing.T, name string, args ...string) (out, errOut string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = plainEnv()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	return stdout.String(), stderr.String(), err
}
