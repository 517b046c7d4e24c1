package integration

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// TestTwoSwivelsThatListEachOtherSayThatTheyAreALoop and not send a request round
// until one of them has no descriptors left.
func TestTwoSwivelsThatListEachOtherSayThatTheyAreALoop(t *testing.T) {
	for name, ask := range map[string]string{
		"CONNECT": "CONNECT site.test:443 HTTP/1.1\r\nHost: site.test:443\r\n\r\n",
		"GET":     "GET http://site.test/ HTTP/1.1\r\nHost: site.test\r\n\r\n",
		"POST":    "POST http://site.test/ HTTP/1.1\r\nHost: site.test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) { goesRound(t, name, ask) })
	}
}

func goesRound(t *testing.T, method, ask string) {
	first := startDaemon(t, swiveltest.Setup{Lines: []string{"127.0.0.1:9 name=nobody"}})
	second := startDaemon(t, swiveltest.Setup{Lines: []string{first.Listen}})
	writeFile(t, first.List, second.Listen+" name=second\n", 0o600)
	swiveltest.Eventually(t, 10*time.Second, "the first one lists the second one", func() bool {
		return len(first.Find(t, "q=second")) > 0
	})
	conn, err := net.Dial("tcp", first.Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = io.WriteString(conn, ask)
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != 508 || resp.Header.Get("X-Swivel-Error") != "loop" {
		t.Errorf("%s %v", resp.Status, resp.Header)
	}
	total := 0
	for _, d := range []daemon{first, second} {
		swiveltest.Eventually(t, 10*time.Second, "its exchanges are counted", func() bool {
			return d.exchangesOver(t) >= 4
		})
		total += d.exchangesOver(t)
	}
	if total > 12 {
		t.Errorf("one request became %d", total)
	}
}
