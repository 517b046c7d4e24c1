package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"swivel/pool"
)

func TestPauseDrainAndResumeByIDNameAndTag(t *testing.T) {
	r := newRig(t, "192.0.2.1:1 name=a tag=eu", "192.0.2.1:2 name=b tag=eu", "192.0.2.1:3-4 name=many", "192.0.2.1:5 name=e")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"pause", "a", "--reason", "vendor maintenance"}, "a"},
		{[]string{"drain", "tag:eu", "-r", "invoice"}, "a drained, b drained"},
		{[]string{"pause", "many", r.id("e"), "--reason", "why", "--by", "alice"}, "a drained, b drained, many, many, e"},
		{[]string{"resume", "tag:eu", "many"}, "e"},
		{[]string{"resume", r.id("e")}, ""},
	} {
		if code, out, errOut := r.ask(c.args...); code != exitOK || r.paused() != c.want || out == "" {
			t.Errorf("%q: exit code %d, put aside %q: %s%s", c.args, code, r.paused(), out, errOut)
		}
	}
	deeds, err := r.d.Deeds(100)
	if err != nil || len(deeds) != 9 || deeds[4].Caller != "alice (127.0.0.1)" || !strings.HasPrefix(deeds[8].Caller, "tester@") {
		t.Errorf("%+v, %v", deeds, err)
	}
}

func TestProxyThatWasNamedTwiceWasToldTwice(t *testing.T) {
	r := newRig(t, "192.0.2.1:1 name=berlin tag=eu", "192.0.2.1:2 name=paris tag=eu")
	code, out, errOut := r.ask("resume", "berlin", "tag:eu", "berlin", r.id("berlin"))
	if code != exitOK || strings.Count(out, "berlin") != 1 || strings.Count(out, "paris") != 1 {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
	if deeds, err := r.d.Deeds(100); err != nil || len(deeds) != 2 {
		t.Errorf("%+v, %v", deeds, err)
	}
}

func TestWhatOperatorsGetWrong(t *testing.T) {
	r := newRig(t, "192.0.2.1:1 name=a tag=eu")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"pause", "a"}, "missing flags: --reason=TEXT"},
		{[]string{"pause", "a", "--reason", "two\nlines"}, "pause: reason: say why in one line"},
		{[]string{"pause", "a", "b", "--reason", "why"}, `pause: no proxy has the id or the name "b"; swivel status lists them`},
		{[]string{"drain", "tag:us", "--reason", "why"}, `drain: no proxy has the tag "us"`},
		{[]string{"resume"}, `expected "<proxy> ..."`},
	} {
		code, _, errOut := r.ask(c.args...)
		if code != exitUsage || !strings.Contains(errOut, c.want) || r.paused() != "" {
			t.Errorf("%q: exit code %d, put aside %q: %s", c.args, code, r.paused(), errOut)
		}
	}
	none := func(string) (string, bool) { return "", false }
	for _, command := range []string{"status", "reload", "resume x"} {
		var errOut strings.Builder
		if code := run(append(strings.Fields(command), "--admin", "127.0.0.1:1"), none, &errOut, &errOut); code != exitRuntime || !strings.Contains(errOut.String(), "no daemon answers at 127.0.0.1:1") {
			t.Errorf("%s: exit code %d: %s", command, code, errOut.String())
		}
		errOut.Reset()
		if code := run(append(strings.Fields(command), "--admin", "off"), none, &errOut, &errOut); code != exitUsage || !strings.Contains(errOut.String(), "the admin API is off") {
			t.Errorf("%s: exit code %d: %s", command, code, errOut.String())
		}
	}
}

// hold keeps an exchange under way at the proxy until the returned func is called.
func (r *rig) hold(name string) (end func()) {
	r.t.Helper()
	for range 1000 { // until the pick comes to it
		now := time.Now()
		x, refusal, _ := r.d.Pool().Begin(pool.Request{ID: "r1", Target: "example.org:443"}, now)
		if refusal != nil {
			r.t.Fatalf("%+v", refusal)
		}
		l, _, ok := x.Next(now, time.Minute, false)
		if !ok {
			r.t.Fatal("nobody is left")
		}
		end := func() { x.Fail(l, pool.Fault{Signal: pool.ClientGone}, time.Now()); l.Release(); x.End(time.Now()) }
		if l.Proxy.Spec.Name == name {
			return end
		}
		end()
	}
	r.t.Fatal("never picked")
	return nil
}

func TestDrainWaitsForWhatIsUnderWay(t *testing.T) {
	r := newRig(t, "192.0.2.1:1 name=a", "192.0.2.1:2 name=b")
	end := r.hold("a")
	if code, _, errOut := r.ask("drain", "a", "--reason", "why", "--wait", "10ms"); code != exitRuntime || errOut != "swivel: drain: still under way: 1 at a ("+r.id("a")+")\n" {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if code, out, errOut := r.ask("drain", "a", "--reason", "why", "--wait", "20s"); code != exitOK || !strings.HasSuffix(out, "nothing is under way any more\n") {
			t.Errorf("exit code %d: %s%s", code, out, errOut)
		}
	})
	end()
	waiting.Wait()
}

func TestResumeDoesNotClaimWhatTheListForbids(t *testing.T) {
	r := newRig(t, "192.0.2.1:1 name=a weight=0 tag=eu", "192.0.2.1:2 name=b tag=eu")
	code, out, errOut := r.ask("resume", "a")
	if code != exitUsage || out != r.id("a")+"  drained  a  (still drained: weight=0 in its list)\n" || errOut != "swivel: resume: nothing is back in use: weight=0 in the list drains what was named; give it another weight there\n" {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
	r.ask("pause", "a", "--reason", "why") // an operator's, which can be taken back, does not hide the list's
	if code, _, _ := r.ask("resume", "a"); code != exitUsage {
		t.Errorf("exit code %d", code)
	}
	if code, out, errOut := r.ask("resume", "tag:eu"); code != exitOK || strings.Count(out, "weight=0") != 1 || strings.Count(out, "\n") != 2 || errOut != "" {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
}

func TestReloadByCommand(t *testing.T) {
	r := newRig(t, "192.0.2.1:1 name=a", "192.0.2.1:2 name=b")
	r.next.Limits.Connections = 7
	r.write("192.0.2.1:1 name=a", "192.0.2.1:3", "192.0.2.1:3", "bad", "worse", "ss://x@h:1")
	code, out, errOut := r.ask("reload")
	want := "reloaded: 1 added, 1 kept, 1 removed; 3 lines skipped, 1 duplicate merged\n" +
		"skipped: 2 × the address has no port\n" +
		"skipped: 1 × unknown scheme \"ss\": use http, https, socks4, socks4a, socks5, socks5h or socks\n" +
		"takes a restart: limits.connections\n"
	if code != exitOK || out != want {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
	r.write("# nothing")
	if code, _, errOut := r.ask("reload"); code != exitUsage || !strings.HasPrefix(errOut, "swivel: reload: proxies: ") || !strings.HasSuffix(errOut, ": the old pool stays\n") {
		t.Errorf("exit code %d: %s", code, errOut)
	}
}

func TestWantedTokenIsExplainedInTheWordsOfTheCommandLine(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error": "send Authorization: Bearer and the admin token"}`)
	}))
	defer server.Close()
	address := server.Listener.Addr().String()
	for token, want := range map[string]string{"": " wants the admin token: ", "0123456789abcdef": " wants another admin token than it was shown: "} {
		env := func(name string) (string, bool) { return token, name == "SWIVEL_ADMIN_TOKEN" }
		var out, errOut strings.Builder
		code := run([]string{"status", "--admin", address}, env, &out, &errOut)
		if code != exitUsage || errOut.String() != "swivel: status: "+address+want+"set SWIVEL_ADMIN_TOKEN, or name the daemon's configuration with --config\n" {
			t.Errorf("exit code %d: %s", code, errOut.String())
		}
	}
}

// What answers at the address may be any server, and its text anything.
func TestSomethingElseAtTheAdminAddress(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() {
		for _, reply := range []string{"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnope", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnope"} {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4096))
			_, _ = conn.Write([]byte(reply))
			_ = conn.Close()
		}
	})
	context.AfterFunc(ctx, func() { _ = ln.Close() })
	t.Cleanup(func() { cancel(); serving.Wait() })
	none := func(string) (string, bool) { return "", false }
	for _, want := range []string{" is no swivel: 404 Not Found\n", " answers makes no sense\n"} {
		var out, errOut strings.Builder
		if code := run([]string{"status", "--admin", ln.Addr().String()}, none, &out, &errOut); code == exitOK || !strings.HasSuffix(errOut.String(), want) {
			t.Errorf("exit code %d: %s%s", code, out.String(), errOut.String())
		}
	}
}
