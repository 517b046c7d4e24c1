package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/tryout"
	"swivel/pool"
	"swivel/pool/upstream/listentest"
)

// upstream is a proxy that has the same reply for every request; it returns its
// address.
func upstream(t *testing.T, reply string) string {
	t.Helper()
	return listentest.Serve(t, func(conn net.Conn) {
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		r := bufio.NewReader(conn)
		if first, _ := r.Peek(1); len(first) == 1 && first[0] < 'A' { // no method begins so, and a request may never come
			_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
			return
		}
		if _, err := http.ReadRequest(r); err == nil {
			_, _ = io.WriteString(conn, reply)
		} else {
			_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
		}
	})
}

// tryList runs "check" and returns the exit code and what it printed.
func tryList(t *testing.T, in string, args ...string) (code int, out, errOut string) {
	t.Helper()
	none := func(string) (string, bool) { return "", false }
	stdin := os.Stdin
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { os.Stdin = stdin; _ = r.Close() }()
	os.Stdin = r
	_, _ = io.WriteString(w, in)
	_ = w.Close()
	var o, e bytes.Buffer
	code = run(append([]string{"check", "--timeout", "3s"}, args...), none, &o, &e)
	return code, o.String(), e.String()
}

const tellsIP = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n192.0.2.7"

// mixed is a list of one proxy that is fine, one with the wrong protocol, and two
// that are dead.
func mixed(t *testing.T) (list string, fine, wrong string) {
	fine, wrong = upstream(t, tellsIP), upstream(t, tellsIP)
	dead := upstream(t, "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")
	return fmt.Sprintf("http://user:s3cret@%s name=fine weight=2\nsocks5://%s country=de\nhttp://%s\nhttp://127.0.0.1:1\nbad\n", fine, wrong, dead), fine, wrong
}

func TestCheckShowsWhoIsAlive(t *testing.T) {
	list, _, wrong := mixed(t)
	code, out, errOut := tryList(t, list, "-", "--target", "http://target.test/ip", "--all")
	if code != exitOK || errOut != "swivel: 1 line skipped: 1 × the address has no port\n" {
		t.Errorf("exit code %d: %s", code, errOut)
	}
	for _, want := range []string{"fine ", " http ", "http, not socks5", "192.0.2.7\n", wrong + " ", "handshake_auth: the proxy answered 407\n", "\n2 of 4 alive; dead: 1 × dial_refused; 1 × handshake_auth\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if code, out, errOut := tryList(t, "http://127.0.0.1:1\n", "-"); code != exitRuntime || errOut != "swivel: check: no proxy is alive\n" || !strings.HasSuffix(out, "\n0 of 1 alive; dead: 1 × dial_refused\n") {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
}

func TestCheckPrintsAListThatCanBeUsed(t *testing.T) {
	list, fine, wrong := mixed(t)
	code, out, _ := tryList(t, "", write(t, "proxies.txt", list), "--target", "http://target.test/", "--output", "list")
	want := "http://user:s3cret@" + fine + " weight=2 name=fine\nhttp://" + wrong + " country=de\n"
	if code != exitOK || out != want {
		t.Errorf("exit code %d: %s", code, out)
	}
	if code, again, errOut := tryList(t, out, "-", "--target", "http://target.test/", "-o", "list"); code != exitOK || again != out {
		t.Errorf("exit code %d: %s%s", code, again, errOut)
	}
}

func TestCheckForMachines(t *testing.T) {
	list, fine, wrong := mixed(t)
	file := write(t, "proxies.txt", list)
	_, out, _ := tryList(t, "", file, "--target", "http://target.test/", "-o", "json")
	var all []checked
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 4 {
		t.Fatalf("%v: %s", err, out)
	}
	if r := all[0]; r.Proxy != "http://"+fine || r.Name != "fine" || !r.Alive || r.Speaks != "http" || r.Latency <= 0 || r.ExitIP != "192.0.2.7" || r.Reason != "" {
		t.Errorf("%+v", r)
	}
	if r := all[1]; r.Proxy != "socks5://"+wrong || r.Speaks != "http" {
		t.Errorf("%+v", r)
	}
	if r := all[3]; r.Alive || r.Speaks != "" || !strings.HasPrefix(r.Reason, "dial_refused: ") {
		t.Errorf("%+v", r)
	}
	_, table, _ := tryList(t, "", file, "--target", "http://target.test/", "-o", "csv")
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil || len(rows) != 5 || strings.Join(rows[0], " ") != "proxy name alive speaks latency_ms exit_ip reason" || rows[4][2] != "false" {
		t.Errorf("%v: %s", err, table)
	}
	if strings.Contains(out+table, "s3cret") {
		t.Error("a password is shown")
	}
}

func TestCheckOfNothing(t *testing.T) {
	for _, c := range []struct {
		in   string
		args []string
		want string
	}{
		{"", []string{"-"}, "check: standard input: no usable proxy"},
		{"h:1", []string{"-", "x.txt"}, "check: want either - or other lists, not both"},
		{"", nil, "proxies: no list given"},
		{"", []string{"/nowhere"}, "proxies: /nowhere: no such file"},
		{"h:1", []string{"-", "--target", "ftp://x", "--concurrency", "0", "--timeout", "0"}, "swivel: check: --timeout: want a duration"},
		{"h:1", []string{"-", "--output", "xml"}, "must be one of"},
	} {
		if code, out, errOut := tryList(t, c.in, c.args...); code != exitUsage || !strings.Contains(errOut, c.want) || out != "" && c.want != "must be one of" {
			t.Errorf("%q: exit code %d: %s%s", c.args, code, out, errOut)
		}
	}
}

// Whoever is tired of waiting wants to keep what is known.
func TestCheckThatIsEndedLeavesAValidResult(t *testing.T) {
	fine := upstream(t, tellsIP)
	ln, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	target, err := tryout.ParseTarget("http://target.test/")
	if err != nil {
		t.Fatal(err)
	}
	list, err := pool.ParseList(strings.NewReader(fine+" name=a\n"+ln.Addr().String()+"\n"+fine+":user:pass\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var accepted sync.WaitGroup
	accepted.Go(func() {
		if conn, err := ln.Accept(); err == nil {
			defer conn.Close()
			cancel() // the first was tried before it
			_, _ = io.Copy(io.Discard, conn)
		}
	})
	var out, errOut bytes.Buffer
	c := checkCmd{Output: "json"}
	err = c.try(ctx, tryout.Checker{Target: target, Timeout: time.Minute, Concurrency: 1}, list.Specs, streams{out: &out, errOut: &errOut})
	accepted.Wait()
	var all []checked
	if jsonErr := json.Unmarshal(out.Bytes(), &all); err != nil || jsonErr != nil || len(all) != 1 || all[0].Name != "a" {
		t.Errorf("%v, %v: %s", err, jsonErr, out.String())
	}
	if errOut.String() != "swivel: check: ended early: 2 of 3 were not tried\n" {
		t.Error(errOut.String())
	}
}

func TestCheckTakesTheListsOfTheConfiguration(t *testing.T) {
	list := write(t, "proxies.txt", upstream(t, tellsIP)+"\n")
	c := checkCmd{Config: write(t, "swivel.yaml", "proxies: ["+list+"]\n")}
	lists, err := c.read(streams{env: func(string) (string, bool) { return "", false }})
	if err != nil || len(lists.Specs) != 1 {
		t.Errorf("%+v, %v", lists, err)
	}
}

func TestProgressFitsTheTerminal(t *testing.T) {
	for width, want := range map[int]string{
		200: "[" + strings.Repeat("#", 20) + strings.Repeat(".", 20) + "] 5 of 10 tried, 2 alive",
		40:  "[#######.......] 5 of 10 tried, 2 alive", 10: "5 of 10 tried, 2 alive",
	} {
		if got := progressLine(5, 10, 2, width); got != want {
			t.Errorf("%d: %q, want %q", width, got, want)
		}
	}
}
