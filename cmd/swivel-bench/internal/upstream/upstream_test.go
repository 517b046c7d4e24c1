package upstream

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

func dial(t *testing.T) (net.Conn, *bufio.Reader) {
	t.Helper()
	p, err := Start(2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", p.Ports()[1]))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return c, bufio.NewReader(c)
}

// body reads one response; HEAD stands for a request whose answer has no body.
func body(t *testing.T, in *bufio.Reader, method string) int64 {
	t.Helper()
	response, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	n, err := io.Copy(io.Discard, response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v", response.Status, err)
	}
	return n
}

// TestOneConnectionIsProxyAndTarget with requests that come together and in
// pieces.
func TestOneConnectionIsProxyAndTarget(t *testing.T) {
	c, in := dial(t)
	get := "GET /x HTTP/1.1\r\nHost: t\r\n\r\n"
	_, _ = io.WriteString(c, "CONNECT t:443 HTTP/1.1\r\nHost: t\r\n\r\n"+get+"GET /bulk/3 HTTP/1.1\r\nHost: t\r\n\r\n"+get[:9])
	if n := body(t, in, http.MethodHead); n != 0 {
		t.Errorf("%d bytes behind the 200", n)
	}
	if n := body(t, in, http.MethodGet); n != BodySize {
		t.Errorf("%d bytes", n)
	}
	if n := body(t, in, http.MethodGet); n != 3<<20 {
		t.Errorf("%d bytes of bulk", n)
	}
	_, _ = io.WriteString(c, get[9:])
	if n := body(t, in, http.MethodGet); n != BodySize {
		t.Errorf("%d bytes of what came in pieces", n)
	}
}

func TestHeadThatIsTooLongEndsTheConnection(t *testing.T) {
	c, in := dial(t)
	_, _ = c.Write(make([]byte, maxHead+1))
	if text, err := io.ReadAll(in); len(text) > 0 {
		t.Errorf("%q, %v", text, err)
	}
}

func TestBulkSize(t *testing.T) {
	for request, want := range map[string]int64{
		"GET /bulk/2 HTTP/1.1\r\nHost: t":             2 << 20,
		"GET http://t/bulk/1 HTTP/1.1\r\nHost: t":     1 << 20,
		"GET /x HTTP/1.1\r\nReferer: http://t/bulk/1": 0,
		"GET /bulk/-1 HTTP/1.1":                       0,
		"GET /bulk/99999999 HTTP/1.1":                 0,
		"GET /bulk/x HTTP/1.1":                        0,
	} {
		if got := bulkSize([]byte(request)); got != want {
			t.Errorf("%q: %d, want %d", request, got, want)
		}
	}
}
