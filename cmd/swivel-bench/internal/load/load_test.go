package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/iotest"

	"swivel/cmd/swivel-bench/internal/upstream"
)

// proxy is an upstream, which is as good as a proxy in front of it.
func proxy(t *testing.T) string {
	t.Helper()
	u, err := upstream.Start(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.Close)
	return fmt.Sprintf("127.0.0.1:%d", u.Ports()[0])
}

// script is a proxy that answers every connection with the same text and closes.
func script(t *testing.T, text string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() { _ = ln.Close(); <-ended })
	go func() {
		defer close(ended)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4<<10))
			_, _ = c.Write([]byte(text))
			_ = c.Close()
		}
	}()
	return ln.Addr().String()
}

func TestClientsDoWhatTheyCount(t *testing.T) {
	for name, do := range map[string]func(context.Context, *Client) error{
		"tunnel": func(_ context.Context, c *Client) error { return c.Tunnel() },
		"plain":  func(_ context.Context, c *Client) error { return c.Plain() },
		"bulk":   func(ctx context.Context, c *Client) error { return c.Bulk(ctx, 2) },
		"open":   func(_ context.Context, c *Client) error { c.Close(); return c.OpenTunnel() },
	} {
		crowd := NewCrowd(4, proxy(t), do)
		times, failed, err := crowd.Run(t.Context(), 100)
		crowd.Close()
		if len(times) != 100 || failed != 0 || err != nil {
			t.Errorf("%s: %d times, %d failed, %v", name, len(times), failed, err)
		}
		for _, d := range times {
			if d <= 0 {
				t.Errorf("%s: one took %v", name, d)
			}
		}
	}
}

func TestProxyThatServesNobodyIsGivenUp(t *testing.T) {
	crowd := NewCrowd(4, script(t, "HTTP/1.1 503 No proxy\r\n\r\n"), func(_ context.Context, c *Client) error { return c.Tunnel() })
	defer crowd.Close()
	times, failed, err := crowd.Run(t.Context(), 1_000_000)
	if len(times) != 0 || failed > maxFailures+4 || err == nil || !strings.Contains(err.Error(), `CONNECT: answered "HTTP/1.1 503 No proxy"`) {
		t.Errorf("%d times, %d failed, %v", len(times), failed, err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	crowd := NewCrowd(2, proxy(t), func(_ context.Context, c *Client) error { cancel(); return c.Plain() })
	defer crowd.Close()
	if _, _, err := crowd.Run(ctx, 1_000_000); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := NewClient(proxy(t)).Bulk(ctx, 1000); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestProxyThatClosesAfterEachAnswerIsNoFailure(t *testing.T) {
	for _, head := range []string{"HTTP/1.1 200 OK\r\nConnection: Close\r\n", "HTTP/1.0 200 OK\r\n"} {
		c := NewClient(script(t, head+"Content-Length: 2\r\n\r\nok"))
		for range 3 {
			if err := c.Plain(); err != nil || c.conn != nil {
				t.Errorf("%q: %v, connection %v", head, err, c.conn)
			}
		}
	}
}

func TestProxyThatClosesWithoutAWordIsAskedAgain(t *testing.T) {
	c := NewClient(script(t, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
	defer c.Close()
	for range 3 {
		if err := c.PlainAgain(); err != nil {
			t.Error(err)
		}
	}
	if err := c.Plain(); err == nil {
		t.Error("the connection was closed, and Plain does not notice")
	}
	refuses := NewClient(script(t, "HTTP/1.1 503 No proxy\r\n\r\n"))
	if err := refuses.PlainAgain(); err == nil {
		t.Error("503 is no failure")
	}
}

func TestBulkThatIsCutShortIsAFailure(t *testing.T) {
	const granted = "HTTP/1.1 200 OK\r\n\r\n"
	for _, text := range []string{granted, granted + "HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\nxx", granted + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nxx"} {
		if err := NewClient(script(t, text)).Bulk(t.Context(), 1); err == nil {
			t.Errorf("%.40q: no error", text)
		}
	}
}

func TestReadAnswer(t *testing.T) {
	for _, c := range []struct {
		text   string
		closes bool
		err    string
	}{
		{"HTTP/1.1 200 Connection established\r\n\r\n", false, ""},
		{"HTTP/1.1 200 OK\r\ncontent-length: 3\r\nVia: x\r\n\r\nabc", false, ""},
		{"HTTP/1.1 200 OK\r\nProxy-Connection: close\r\nContent-Length:3 \r\n\r\nabc", true, ""},
		{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", false, "1 bytes are missing"},
		{"HTTP/1.1 200 OK\r\n\r\nab", false, "2 bytes behind the end"},
		{"HTTP/1.1 502 Bad Gateway\r\n\r\n", false, "answered"},
		{"HTTP/1.1 200 OK\r\nContent-Length: few\r\n\r\n", false, "invalid syntax"},
		{"HTTP/1.1 200 OK\r\nA: b\r\n", false, "no answer but"},
		{"HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 100) + "\r\n", false, "too long"},
		{"", false, "no answer but"},
	} {
		whole, pieces := strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text))
		for _, r := range []interface{ Read([]byte) (int, error) }{whole, pieces} {
			closes, err := readAnswer(r, make([]byte, 128))
			if c.err == "" && (err != nil || closes != c.closes) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				if r == whole || c.err != "2 bytes behind the end" { // byte by byte they are not there yet
					t.Errorf("%.60q: %v, %v", c.text, closes, err)
				}
			}
		}
	}
}
