package front

import (
	"fmt"
	"strings"
	"testing"
)

func TestWhatTheLogShowsOfARefusedTarget(t *testing.T) {
	long := strings.Repeat("a", 1000)
	for _, c := range []struct{ method, target, want string }{
		{"GET", "http://Example.org/path?token=s3cret", "Example.org:80"},
		{"GET", "https://example.org/", "example.org:443"},
		{"GET", "wss://example.org:8443", "example.org:8443"},
		{"GET", "http://example.org:/", "example.org:80"},
		{"GET", "http://[2001:db8::1]/", "[2001:db8::1]:80"},
		{"GET", "http://exa%mple.org/", "exa%mple.org"},
		{"GET", "http://example.org:99999/", "example.org:99999"},
		{"GET", "ftp://me:s3cret@example.org/", "example.org:80"},
		{"GET", "http://me:s3/cret@example.org/", ""},
		{"GET", "http://me@s3cret@example.org/", "example.org:80"},
		{"GET", "/path", ""},
		{"GET", "*", ""},
		{"GET", "", ""},
		{"CONNECT", "example.org", "example.org"},
		{"CONNECT", "example.org:443", "example.org:443"},
		{"CONNECT", "http://me:s3cret@example.org/", "example.org:80"},
		{"CONNECT", "me:s3cret@example.org:443", "example.org:443"},
		{"CONNECT", "a\x1b[2Jb\n:443", "a_[2Jb_:443"},
		{"CONNECT", "a\xffb", "a_b"},
		{"CONNECT", long, long[:mostAsked]},
	} {
		if got := askedFor(c.method, c.target); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.method, c.target, got, c.want)
		}
	}
}

func FuzzAskedFor(f *testing.F) {
	f.Add("GET", "http://u:p@h:1/x")
	f.Add("CONNECT", "u:p@h:1")
	f.Fuzz(func(t *testing.T, method, target string) {
		got := askedFor(method, target)
		if len(got) > mostAsked || strings.ContainsAny(got, "@/?# \r\n\x00\x1b") {
			t.Errorf("%s %q: %q", method, target, got)
		}
	})
}

func TestARefusalIsLoggedWithItsTarget(t *testing.T) {
	r := newRig(t)
	r.users = []string{"user1:s3cret"}
	r.start(r.closedPort())
	auth := basic("user1:s3cret")
	for i, c := range []struct{ head, want string }{
		{getWith(""), "example.test:80"},
		{connectWith(""), target},
		{getWith(auth + "X-Swivel-Route: contry=de\r\n"), "example.test:80"},
		{"GET http://" + r.addr + "/ HTTP/1.1\r\nHost: a\r\n" + auth + "\r\n", r.addr},
		{"GET http://exa%mple.test/ HTTP/1.1\r\nHost: a\r\n" + auth + "\r\n", "exa%mple.test"},
		{"CONNECT example.test HTTP/1.1\r\nHost: a\r\n" + auth + "\r\n", "example.test"},
		{"GET /page HTTP/1.1\r\nHost: a\r\n" + auth + "\r\n", ""},
	} {
		client := r.dial()
		client.send(c.head)
		client.reply()
		if line := r.logged(i + 1); line.Target != c.want || line.Status < 400 {
			t.Errorf("%q: %d for the target %q, want %q", c.head, line.Status, line.Target, c.want)
		}
	}
	again := r.dial() // what it asked for before is not what is wrong now
	again.send(getWith(""))
	again.reply()
	again.send(fmt.Sprintf("GET http://%0*d/ HTTP/1.1\r\n", 200_000, 1))
	again.reply()
	if line := r.logged(9); line.Target != "" || line.Status != 414 && line.Status != 431 {
		t.Errorf("a head that is too long: %d for the target %q", line.Status, line.Target)
	}
}
