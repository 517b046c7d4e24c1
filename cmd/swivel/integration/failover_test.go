package integration

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"swivel/cmd/swivel/internal/swiveltest"
)

// hangUps are the ways of a proxy that says 200 and then leaves: at once, or
// when it is asked, in order or not.
var hangUps = map[string]func(*net.TCPConn, *bufio.Reader){
	"FIN at once": func(*net.TCPConn, *bufio.Reader) {},
	"FIN when asked": func(_ *net.TCPConn, br *bufio.Reader) {
		_, _ = br.Peek(1)
		_, _ = br.Discard(br.Buffered())
	},
	"RST when asked": func(c *net.TCPConn, br *bufio.Reader) {
		_, _ = br.Peek(1)
		_ = c.SetLinger(0)
	},
}

// hangsUpOften carries every second tunnel and leaves the others behind its 200.
func hangsUpOften(leave func(*net.TCPConn, *bufio.Reader), left *atomic.Int64) func(net.Conn) {
	var count atomic.Int64
	return func(c net.Conn) {
		if count.Add(1)%2 == 0 {
			carry(c)
			return
		}
		br := bufio.NewReader(c)
		if req, err := http.ReadRequest(br); err != nil || req.Method != http.MethodConnect {
			return
		}
		left.Add(1)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		leave(c.(*net.TCPConn), br)
	}
}

// TestNoHTTPSRequestFailsThoughProxiesHangUpBehindTheir200 keeps the breakers
// from taking those proxies out, so that they are met all the time.
func TestNoHTTPSRequestFailsThoughProxiesHangUpBehindTheir200(t *testing.T) {
	o := newOrigin(t)
	curl := installed(t, "curl", "curl")
	pythonModule(t, "requests")
	var left atomic.Int64
	var lines []string
	for _, leave := range hangUps {
		bad, good := newToy(t, "127.0.0.31"), newToy(t, "127.0.0.32")
		bad.open(t, hangsUpOften(leave, &left))
		good.open(t, carry)
		lines = append(lines, bad.hostPort, good.hostPort)
	}
	d := startDaemon(t, swiveltest.Setup{Lines: lines, Env: []string{"SWIVEL_BREAKER_CONSECUTIVE_FAILURES=0", "SWIVEL_BREAKER_ERROR_RATIO=1"}})
	const each = 500
	out := runClient(t, "", python, "testdata/many.py", "http://"+d.Listen, o.ca.file, o.https+"/ip", strconv.Itoa(each))
	if strings.TrimSpace(out) != strconv.Itoa(each) {
		t.Errorf("Python's requests: %s", out)
	}
	out = runClient(t, "", curl, "-sS", "--fail", "--max-time", "30", "--noproxy", "", "--proxy", "http://"+d.Listen, "--cacert", o.ca.file,
		"--parallel", "--parallel-max", "8", "-H", "Connection: close", o.https+"/ip?[1-"+strconv.Itoa(each)+"]")
	if n := strings.Count(out, "\n"); n != each {
		t.Errorf("curl got %d answers to %d requests", n, each)
	}
	moved := 0
	for _, x := range d.Lines(t, "exchange") {
		if n := len(x.Attempts); n > 1 && x.Attempts[n-1].Signal == "first_byte" {
			moved++
		}
	}
	t.Logf("%d requests met %d proxies that hung up; %d tunnels moved", 2*each, left.Load(), moved)
	if moved < each/10 {
		t.Errorf("only %d tunnels moved: that shows nothing", moved)
	}
}
