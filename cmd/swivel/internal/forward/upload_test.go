package forward_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

// An upload flows as fast as the target takes it and is held nowhere.
func TestLargeUploadIsStreamed(t *testing.T) {
	const size, piece = 64 << 20, 1 << 20
	for _, chunked := range []bool{false, true} {
		t.Run(fmt.Sprint("chunked ", chunked), func(t *testing.T) {
			start, received := make(chan struct{}), make(chan int64, 1)
			s := serve(t, normal, func(p *peer) {
				head, _ := p.head()
				<-start
				if chunked {
					body, ok := readChunks(p.br)
					if !ok {
						t.Error("the chunks are broken")
					}
					received <- int64(len(body))
				} else {
					n, _ := io.CopyN(io.Discard, p.br, size)
					received <- n
				}
				_ = head
				p.send("HTTP/1.1 204 No Content\r\n\r\n", "")
			})
			r := newRig(t, limits{}, s.spec())
			c := r.dial()
			framing := fmt.Sprintf("Content-Length: %d\n\n", size)
			if chunked {
				framing = "Transfer-Encoding: chunked\n\n"
			}
			c.write(crlf(post + framing))
			before := heap()
			stuck := c.fill(t, strings.Repeat("x", piece), chunked)
			if grown := heap() - before; grown > 8<<20 {
				t.Errorf("%d bytes are held", grown)
			}
			if stuck >= size/2 {
				t.Errorf("%d bytes went to a target that reads none", stuck)
			}
			close(start)
			_ = c.SetWriteDeadline(time.Now().Add(patience))
			c.pour(size-stuck, chunked)
			if n := <-received; n != size {
				t.Errorf("%d bytes arrived", n)
			}
			if head := c.head(); status(head) != "204" {
				t.Errorf("the client got %q", head)
			}
			if x := r.exchange(); x.Up != size {
				t.Errorf("the log says %d bytes went up", x.Up)
			}
		})
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// fill sends until nothing moves any more, and returns how much of the body that was. A chunk is never left
// half sent, or else the count would be that of the chunk's bytes.
func (c *client) fill(t *testing.T, piece string, chunked bool) int {
	t.Helper()
	total := 0
	if chunked { // one huge chunk, so that a short write leaves no half chunk behind
		c.write(fmt.Sprintf("%x\r\n", 64<<20))
	}
	for {
		_ = c.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
		n, err := io.WriteString(c, piece)
		total += n
		if err != nil {
			return total
		}
	}
}

// pour sends the rest of the body.
func (c *client) pour(n int, chunked bool) {
	c.t.Helper()
	if _, err := io.CopyN(c, endless{}, int64(n)); err != nil {
		c.t.Fatal(err)
	}
	if chunked {
		c.write("\r\n0\r\n\r\n")
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// A target that has read enough says so at once, and closes.
func TestEarlyRefusalOfAnUploadReachesTheClient(t *testing.T) {
	for name, framing := range map[string]string{
		"length": "Content-Length: 1099511627776\n\n",
		"chunks": "Transfer-Encoding: chunked\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			inAllDeliveries(t, func(t *testing.T, by delivery) {
				s := serve(t, by, func(p *peer) {
					p.head()
					_, _ = p.br.Peek(1)
					p.send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\n", "no")
					_ = p.CloseWrite()
					p.untilClosed()
				})
				r := newRig(t, limits{}, s.spec())
				c := r.dial()
				c.write(crlf(post + framing))
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					for {
						if _, err := io.WriteString(c, strings.Repeat("4\r\nabcd\r\n", 1000)); err != nil {
							return
						}
					}
				}()
				if head, body := c.response(); status(head) != "413" || body != "no" || field(head, "Connection") != "close" {
					t.Errorf("the client got %q %q", head, body)
				}
				s.waitClosed()
				_ = c.Close()
				<-ended
				if got := r.verdicts(); got != "response success" {
					t.Errorf("the verdict is %q", got)
				}
			})
		})
	}
}

// The answer may begin, and even end, before the request has.
func TestAnswerMayOvertakeTheRequest(t *testing.T) {
	inAllDeliveries(t, func(t *testing.T, by delivery) {
		s := serve(t, by, func(p *peer) {
			p.head()
			p.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "")
			for range 3 { // echo
				line, _ := p.br.ReadString('\n')
				data, _ := p.br.ReadString('\n')
				p.send(line+data, "")
			}
			_, _ = readChunks(p.br)
			p.send("0\r\n\r\n", "")
			p.untilClosed()
		})
		r := newRig(t, limits{}, s.spec())
		c := r.dial()
		c.write(crlf(post + "Transfer-Encoding: chunked\n\n"))
		c.head()
		for range 3 {
			c.write("4\r\nping\r\n")
			for got := ""; got != "ping"; {
				got += c.chunk()
			}
		}
		c.write("0\r\n\r\n")
		if end := c.take(5); end != "0\r\n\r\n" {
			t.Errorf("the response ends in %q", end)
		}
	})
}

func TestClientThatStopsSendingIsToldSo(t *testing.T) {
	for name, message := range map[string]string{
		"held body":     "Content-Length: 5\n\nabc",
		"streamed body": "Content-Length: 100000\n\nabc",
		"chunked body":  "Transfer-Encoding: chunked\n\n5\nabc",
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, normal, func(p *peer) { p.untilClosed() })
			r := newRig(t, limits{exchange: 100 * time.Millisecond, response: 200 * time.Millisecond}, s.spec())
			c := r.dial()
			c.write(crlf(post + message))
			c.refused("408", "bad_request")
			for _, a := range r.exchange().Attempts {
				if a.Outcome != "ignored" {
					t.Errorf("the proxy is blamed: %v", a)
				}
			}
		})
	}
}
