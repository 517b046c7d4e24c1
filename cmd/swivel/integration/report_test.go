package integration

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// tunnel is a CONNECT in which something was said and answered; it returns the
// head of the 200.
func (d daemon) tunnel(t *testing.T, target string) http.Header {
	t.Helper()
	c, err := net.Dial("tcp", d.Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	in := bufio.NewReader(c)
	_, _ = fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
	response, err := http.ReadResponse(in, &http.Request{Method: "CONNECT"})
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode == http.StatusOK {
		_, _ = io.WriteString(c, "hello\n")
		_, _ = in.ReadString('\n')
	}
	return response.Header
}

// A client that meets a page which says that it is banned reports that by the id
// of its request, and gets another proxy there, but not elsewhere.
func TestReportedBanKeepsAProxyFromItsTarget(t *testing.T) {
	a, b := newToy(t, "127.0.0.2"), newToy(t, "127.0.0.3")
	a.open(t, tunnelled)
	b.open(t, tunnelled)
	d := startDaemon(t, swiveltest.Setup{Lines: []string{a.hostPort, b.hostPort}})
	head := d.tunnel(t, "shop.test:443")
	banned := head.Get("X-Swivel-Proxy")
	status, said := d.Post(t, "/api/v1/report", `{"request_id": "`+head.Get("X-Request-Id")+`", "outcome": "banned", "retry_after_s": 600}`)
	if status != 200 || !strings.Contains(said, `"proxy_id":"`+banned+`"`) || !strings.Contains(said, `"target":"shop.test:443"`) {
		t.Fatalf("%d %s", status, said)
	}
	elsewhere := false
	for range 40 { // by chance alone a proxy of two is missing once in 10^12
		if by := d.tunnel(t, "shop.test:443").Get("X-Swivel-Proxy"); by == banned || by == "" {
			t.Fatalf("served by %q", by)
		}
		elsewhere = elsewhere || d.tunnel(t, "other.test:443").Get("X-Swivel-Proxy") == banned
	}
	if !elsewhere {
		t.Error("it is kept from other targets too")
	}
}
