package soak

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// What upstreams say.
const (
	granted   = "HTTP/1.1 200 Connection established\r\n\r\n"
	wantsUser = "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n"
	nonsense  = "\x00\x01 this is no protocol that anybody knows\r\n\r\n"
)

// bodySize is how long the body of an answer to a GET is.
const bodySize = 1024

var body = strings.Repeat("x", bodySize)

// Targets that begin so are answered late, whatever the mood: their clients leave
// before.
const heldPrefix = "hold-"

// serve answers what comes on a connection.
func (v *visit) serve() {
	if first, err := v.in.Peek(1); err == nil && first[0] == 5 {
		v.serveSOCKS()
		return
	}
	for {
		request, err := http.ReadRequest(v.in)
		if err != nil {
			return
		}
		v.begin(request.Host)
		if !v.answer(request) {
			return
		}
		v.begin("")
	}
}

// answer says whether another request may follow.
func (v *visit) answer(request *http.Request) bool {
	if !v.inTheMood(request.Host) {
		return false
	}
	if mood(v.up.mood.Load()) == login {
		v.spoil("login")
		v.say(wantsUser)
		return false
	}
	if request.Method == http.MethodConnect {
		v.grant(granted)
		v.echo()
		return false
	}
	n, err := io.Copy(io.Discard, request.Body)
	if err != nil {
		return false
	}
	text := body
	if request.Method == http.MethodPost {
		text = fmt.Sprintf("%d", n)
	}
	// A Date, as origins send it, or it would look like the proxy's own.
	v.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Length: %d\r\n\r\n%s", len(text), text))
	return true
}

// inTheMood does what the mood is before anything is answered; false if that was
// all.
func (v *visit) inTheMood(target string) bool {
	if strings.HasPrefix(target, heldPrefix) {
		v.wait(hung)
		return false
	}
	switch mood(v.up.mood.Load()) {
	case resets:
		v.reset("reset")
		return false
	case slow:
		time.Sleep(late)
	case garbage:
		v.spoil("garbage")
		v.say(nonsense)
		return false
	case silent:
		v.spoil("silence")
		v.wait(hung)
		return false
	}
	return true
}

func (v *visit) say(text string) { _, _ = io.WriteString(v, text) }

// wait waits for the other side to leave.
func (v *visit) wait(most time.Duration) {
	_ = v.SetReadDeadline(time.Now().Add(most))
	_, _ = io.Copy(io.Discard, v.in)
}

// echo sends back all that comes, until the other side has nothing more to say,
// and then says so too.
func (v *visit) echo() {
	if _, err := io.Copy(v, v.in); err == nil {
		_ = v.CloseWrite()
	}
}

var errNoSOCKS = errors.New("no SOCKS5 request for a name")

// serveSOCKS grants a SOCKS5 CONNECT for a name, without authentication
// (RFC 1928).
func (v *visit) serveSOCKS() {
	target, err := v.readSOCKS()
	if err != nil {
		return
	}
	v.begin(target)
	if !v.inTheMood(target) {
		return
	}
	v.grant("\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
	v.echo()
}

func (v *visit) readSOCKS() (target string, err error) {
	var head [2]byte
	if _, err := io.ReadFull(v.in, head[:]); err != nil {
		return "", err
	}
	if _, err := v.in.Discard(int(head[1])); err != nil {
		return "", err
	}
	v.say("\x05\x00")
	var request [5]byte
	if _, err := io.ReadFull(v.in, request[:]); err != nil {
		return "", err
	}
	if request[1] != 1 || request[3] != 3 {
		return "", errNoSOCKS
	}
	rest := make([]byte, int(request[4])+2)
	if _, err := io.ReadFull(v.in, rest); err != nil {
		return "", err
	}
	port := int(rest[len(rest)-2])<<8 | int(rest[len(rest)-1])
	return fmt.Sprintf("%s:%d", rest[:len(rest)-2], port), nil
}
