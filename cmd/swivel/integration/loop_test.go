package integration

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

var roundTrips = map[string]string{
	"CONNECT": "CONNECT site.test:80 HTTP/1.1\r\nHost: site.test:80\r\n\r\n",
	"GET":     "GET http://site.test/ip HTTP/1.1\r\nHost: site.test\r\n\r\n",
	"POST":    "POST http://site.test/ HTTP/1.1\r\nHost: site.test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
}

// TestTwoSwivelsThatListEachOtherSayThatTheyAreALoop and not send a request round
// until one of them has no descriptors left.
func TestTwoSwivelsThatListEachOtherSayThatTheyAreALoop(t *testing.T) {
	for name, ask := range roundTrips {
		for _, user := range []string{"", "u-{random}:x@"} {
			t.Run(name+" "+user, func(t *testing.T) {
				pair := listEachOther(t, user)
				if resp := askOnce(t, pair[0].Listen, name, ask); resp.StatusCode != 508 || resp.Header.Get("X-Swivel-Error") != "loop" {
					t.Errorf("%s %v", resp.Status, resp.Header)
				}
				total := 0
				for _, d := range pair {
					swiveltest.Eventually(t, 10*time.Second, "its exchanges are counted", func() bool {
						return d.exchangesOver(t) >= 4
					})
					total += d.exchangesOver(t)
				}
				if total > 12 {
					t.Errorf("one request became %d", total)
				}
			})
		}
	}
}

// TestLoopIsNoReasonNotToTryOthers where the client comes in.
func TestLoopIsNoReasonNotToTryOthers(t *testing.T) {
	o, good := newOrigin(t), newToy(t, "127.0.0.33")
	good.open(t, carryTo(map[string]string{"site.test:80": strings.TrimPrefix(o.http, "http://")}))
	for _, name := range []string{"CONNECT", "GET"} {
		pair := listEachOther(t, "", good.hostPort+" weight=0.001")
		for range 3 {
			if resp := askOnce(t, pair[0].Listen, name, roundTrips[name]); resp.StatusCode != 200 {
				t.Errorf("%s: %s %v", name, resp.Status, resp.Header)
			}
		}
		if n := pair[0].exchangesOver(t) + pair[1].exchangesOver(t); n > 40 {
			t.Errorf("%s: three requests became %d", name, n)
		}
	}
}

// listEachOther starts two daemons, of which the first one lists others, too.
func listEachOther(t *testing.T, user string, others ...string) [2]daemon {
	t.Helper()
	first := startDaemon(t, swiveltest.Setup{Lines: []string{"127.0.0.1:9 name=nobody"}})
	second := startDaemon(t, swiveltest.Setup{Lines: []string{user + first.Listen}})
	writeFile(t, first.List, strings.Join(append(others, user+second.Listen+" name=second", ""), "\n"), 0o600)
	swiveltest.Eventually(t, 10*time.Second, "the first one lists the second one", func() bool {
		return len(first.Find(t, "q=second")) > 0
	})
	return [2]daemon{first, second}
}

// askOnce returns the head of the answer.
func askOnce(t *testing.T, proxy, method, ask string) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", proxy)
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
	return resp
}
