package integration

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// secretsTest is a daemon whose list is full of credentials, all of them
// different so that one that leaks says where it came from.
type secretsTest struct {
	origin  *origin
	daemon  daemon
	secrets []secret
	shown   []sight
}

// sight is something that others than the daemon can see.
type sight struct {
	where string
	text  []byte
}

// TestNoCredentialIsShown: whatever goes right or wrong, no credential of a
// list or of a client appears in the log at its most talkative, in answers, in
// the database or in the process table.
func TestNoCredentialIsShown(t *testing.T) {
	s := &secretsTest{origin: newOrigin(t)}
	bad := s.badLines()
	s.daemon = startDaemon(t, swiveltest.Setup{
		Lines: slices.Concat(s.toyLines(t), s.realLines(t), bad),
		Env:   []string{"SWIVEL_LOG_LEVEL=debug", "SWIVEL_GRACE=1s", "SWIVEL_ATTEMPTS_HANDSHAKE_TIMEOUT=2s"},
	})
	s.useEveryProxy(t)
	s.askWithCredentials(t)
	s.seeAdmin(t)
	s.seeProcesses(t)
	s.daemon.Signal(t, syscall.SIGHUP) // the list is read, and its bad lines are told, again
	swiveltest.Eventually(t, 20*time.Second, "the list is read again", func() bool {
		return len(s.daemon.Lines(t, "reloaded")) > 0
	})
	if n := len(s.daemon.Lines(t, "line skipped")); n != 2*len(bad) {
		t.Errorf("%d lines were told to be bad, want each of %d twice", n, len(bad))
	}
	s.seeFiles(t) // while the write-ahead log is there
	s.daemon.Signal(t, syscall.SIGTERM)
	s.daemon.Wait(t, 10*time.Second)
	s.seeFiles(t)
	s.search(t)
}

// secret makes another one, to be searched for.
func (s *secretsTest) secret(place string) secret {
	made := newSecret(place)
	s.secrets = append(s.secrets, made)
	return made
}

// useEveryProxy makes plain and https requests until every proxy that can be
// picked was used, and keeps what clients are told.
func (s *secretsTest) useEveryProxy(t *testing.T) {
	t.Helper()
	good, bad := 0, 0
	swiveltest.Eventually(t, 60*time.Second, "every proxy was used and both successes and failures were seen", func() bool {
		for _, request := range []string{
			"CONNECT " + strings.TrimPrefix(s.origin.http, "http://") + " HTTP/1.1\r\nHost: x\r\n\r\nGET /ip HTTP/1.0\r\n\r\n",
			"GET " + s.origin.http + "/ip HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
			"CONNECT no-such-target.invalid:443 HTTP/1.1\r\nHost: x\r\n\r\n",
			"CONNECT x.test:443 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: " + basicCredentials(secret{user: "u+proxy=Deadhttp", password: "x"}) + "\r\n\r\n",
		} {
			told := s.ask(t, request)
			if strings.HasPrefix(told, "HTTP/1.1 200 ") {
				good++
			} else {
				bad++
			}
		}
		return good > 0 && bad > 0 && s.unused(t) == ""
	})
}

// unused names a proxy that no attempt was made with so far.
func (s *secretsTest) unused(t *testing.T) string {
	for _, m := range s.daemon.Find(t, "") {
		if len(s.daemon.attemptsOf(t, m.ID)) == 0 {
			return m.Name
		}
	}
	return ""
}

// ask sends a request as it stands and returns all that comes back, of which
// the rest of a tunnel does not matter.
func (s *secretsTest) ask(t *testing.T, request string) string {
	t.Helper()
	c, err := net.DialTimeout("tcp", s.daemon.Listen, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	told, _ := io.ReadAll(c)
	s.see("what a client is told", told)
	return string(told)
}

// askWithCredentials: those of clients and of targets are as secret.
func (s *secretsTest) askWithCredentials(t *testing.T) {
	t.Helper()
	client, target, query := s.secret("Client"), s.secret("Target"), s.secret("Query")
	basic := basicCredentials(client)
	host := strings.TrimPrefix(s.origin.http, "http://")
	for _, request := range []string{
		"CONNECT " + host + " HTTP/1.1\r\nHost: x\r\nProxy-Authorization: " + basic + "\r\n\r\nGET / HTTP/1.0\r\n\r\n",
		"GET http://" + host + "/ip?key=" + query.core + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nProxy-Authorization: " + basic + "\r\nAuthorization: " + basic + "\r\n\r\n",
		"GET http://" + target.userinfo() + "@" + host + "/ip HTTP/1.1\r\nHost: x\r\n\r\n",
		"CONNECT " + target.userinfo() + "@" + host + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET http://" + host + "/" + query.core + " HTTP/1.1\r\nHost: x\r\nbad field " + client.password + "\r\n\r\n",
		basic + "\r\n\r\n",
	} {
		s.ask(t, request)
	}
}

func basicCredentials(s secret) string {
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth(s.user, s.password)
	return r.Header.Get("Authorization")
}

// seeAdmin asks for all there is, and for what there is not.
func (s *secretsTest) seeAdmin(t *testing.T) {
	t.Helper()
	for _, path := range []string{"/", "/healthz", "/readyz", "/metrics", "/api/v1/proxies", "/api/v1/explain", "/api/v1/nosuch"} {
		resp, err := http.Get("http://" + s.daemon.Admin + path)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		_ = resp.Write(&text)
		_ = resp.Body.Close()
		s.see("admin "+path, []byte(text.String()))
	}
}

// seeProcesses looks at what every user of the machine sees, and makes sure
// that there is nobody but the daemon itself to look at.
func (s *secretsTest) seeProcesses(t *testing.T) {
	t.Helper()
	pid := s.daemon.PID()
	for _, name := range []string{"cmdline", "environ"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
		if err != nil {
			t.Fatal(err)
		}
		s.see("/proc/PID/"+name, text)
	}
	if kids := childrenOf(t, pid); len(kids) > 0 {
		t.Errorf("swivel started processes: %v", kids)
	}
}

// seeFiles looks at the log and at every file of the database.
func (s *secretsTest) seeFiles(t *testing.T) {
	t.Helper()
	s.see("the log", []byte(s.daemon.Output(t)))
	files, err := filepath.Glob(s.daemon.DB + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no database: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		s.see(filepath.Base(file), text)
	}
}

func (s *secretsTest) see(where string, text []byte) {
	s.shown = append(s.shown, sight{where, text})
}

// search looks for every secret in everything that was seen.
func (s *secretsTest) search(t *testing.T) {
	t.Helper()
	for _, secret := range s.secrets {
		for _, seen := range s.shown {
			if form := secret.foundIn(seen.text); form != "" {
				t.Errorf("%s shows the credential %q (%s)", seen.where, secret.core, form)
			}
		}
	}
}
