package upstream

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/http1"
)

var (
	chunked = http1.Framing{Kind: http1.Chunked}
	length5 = http1.Framing{Kind: http1.Length, Length: 5}
)

// slowSource is a body that comes when the test says so.
type slowSource struct {
	source
	io.Reader
	w    *io.PipeWriter
	stop func(error)
}

// slowly is a request whose body is written to w by the test.
func slowly(f http1.Framing) (*Request, *slowSource) {
	pr, pw := io.Pipe()
	s := &slowSource{Reader: pr, w: pw, stop: func(err error) { _ = pw.CloseWithError(err) }}
	r := asking("POST")
	r.Held, r.Framing, r.Source = nil, f, s
	r.Body = http1.NewBody(bufio.NewReader(pr), f)
	return r, s
}

func (s *slowSource) Interrupt() { s.stop(os.ErrDeadlineExceeded) }

func TestBodyIsStreamedAsItIsFramed(t *testing.T) {
	for _, x := range []struct {
		name, text string
		framing    http1.Framing
		want       string
		sent       int64
	}{
		{"length", "hello", length5, "hello", 5},
		{"length in excess", "hello, more", length5, "hello", 5},
		{"chunks", "2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n", chunked, "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", 5},
		{"no chunk", "0\r\n\r\n", chunked, "0\r\n\r\n", 0},
		{"trailer", "1\r\nx\r\n0\r\nX-Sum: 1\r\nContent-Length: 9\r\n\r\n", chunked, "1\r\nx\r\n0\r\nX-Sum: 1\r\n\r\n", 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			got := make(chan string, 1)
			p := proxyPlain(t, nil, func(v *visit) {
				v.head()
				b := make([]byte, len(x.want))
				_, _ = io.ReadFull(v.br, b)
				got <- string(b)
				v.answer()
				_, _ = io.Copy(io.Discard, v.br)
			})
			tr := transport(t, specFor(pool.HTTP, p.addr, ""))
			r := sending("POST", x.text, x.framing)
			resp, err := tr.RoundTrip(background(t), background(t), tr.spec, r)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.ReadAll(&resp.Body)
			if read := resp.RequestRead(); !read {
				t.Error("the body was not read whole")
			}
			if read, sent := resp.Close(); !read || sent != x.sent {
				t.Errorf("read %v, sent %d", read, sent)
			}
			if body := <-got; body != x.want {
				t.Errorf("the proxy received %q", body)
			}
			if s := r.Source.(*source); s.sent != 1 || s.interrupted != 0 || s.awaited == 0 {
				t.Errorf("the source saw %+v", *s)
			}
			if n := tr.idling(); n != 1 {
				t.Errorf("%d idle connections", n)
			}
		})
	}
}

// The pump ends when the answer is complete, and the connection with it: the
// next request would else be taken for the rest of this one's body.
func TestAnswerBeforeTheBodyEndsTheConnection(t *testing.T) {
	for name, written := range map[string]string{"nothing": "", "a part": "3\r\nabc\r\n", "half a chunk": "3\r\na"} {
		t.Run(name, func(t *testing.T) {
			p := proxyPlain(t, nil, func(v *visit) {
				v.head()
				v.answer()
				_, _ = io.Copy(io.Discard, v.br)
			})
			tr := transport(t, specFor(pool.HTTP, p.addr, ""))
			r, s := slowly(chunked)
			go func() { _, _ = io.WriteString(s.w, written) }()
			resp, err := tr.RoundTrip(background(t), background(t), tr.spec, r)
			if err != nil {
				t.Fatal(err)
			}
			if body, err := io.ReadAll(&resp.Body); err != nil || string(body) != "1" {
				t.Errorf("the answer is %q, %v", body, err)
			}
			if resp.RequestRead() {
				t.Error("the body counts as read")
			}
			if read, _ := resp.Close(); read {
				t.Error("the body counts as read")
			}
			if n := tr.idling(); n != 0 {
				t.Errorf("%d idle connections", n)
			}
		})
	}
}

// A body that was read whole but not sent whole must not leave its connection
// to others.
func TestBodyThatNobodyTakesEndsTheConnection(t *testing.T) {
	const size = 64 << 20
	p := proxyPlain(t, nil, func(v *visit) {
		v.head()
		v.answer()
		<-t.Context().Done()
	})
	tr := transport(t, specFor(pool.HTTP, p.addr, ""))
	r, s := slowly(http1.Framing{Kind: http1.Length, Length: size})
	go func() { _, _ = io.Copy(s.w, io.LimitReader(zeros{}, size)) }()
	resp, err := tr.RoundTrip(background(t), background(t), tr.spec, r)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(&resp.Body)
	done := make(chan bool)
	go func() { read, _ := resp.Close(); done <- read }()
	select {
	case read := <-done:
		if read {
			t.Error("the body counts as read")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("Close waits for a proxy that takes nothing")
	}
	if n := tr.idling(); n != 0 {
		t.Errorf("%d idle connections", n)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestClientThatFailsEndsTheRequest(t *testing.T) {
	gone := errors.New("gone")
	for name, end := range map[string]struct {
		do   func(*slowSource)
		want error
	}{
		"dies":             {func(s *slowSource) { s.stop(gone) }, gone},
		"ends early":       {func(s *slowSource) { s.stop(io.EOF) }, io.ErrUnexpectedEOF},
		"sends nonsense":   {func(s *slowSource) { _, _ = io.WriteString(s.w, "xyz\r\n") }, http1.ErrChunk},
		"stops in a chunk": {func(s *slowSource) { _, _ = io.WriteString(s.w, "5\r\nab"); s.stop(gone) }, gone},
	} {
		for _, answered := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				asked := make(chan bool, 1)
				p := proxyPlain(t, nil, func(v *visit) {
					v.head()
					if answered {
						_, _ = io.WriteString(v, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
					}
					asked <- true
					_, _ = io.Copy(io.Discard, v.br)
				})
				tr := transport(t, specFor(pool.HTTP, p.addr, ""))
				r, s := slowly(chunked)
				if !answered {
					go func() { <-asked; end.do(s) }()
					if e := failure(t, tr, r); e.Signal != pool.ClientGone || !errors.Is(e, end.want) {
						t.Errorf("%v: %v", e.Signal, e)
					}
					return
				}
				resp, err := tr.RoundTrip(background(t), background(t), tr.spec, r)
				if err != nil {
					t.Fatal(err)
				}
				go end.do(s)
				if _, err := io.ReadAll(&resp.Body); err == nil || !resp.ClientFailed() {
					t.Errorf("reading the answer: %v; the client failed: %v", err, resp.ClientFailed())
				}
				resp.Close()
			})
		}
	}
}

func TestProxyThatFailsDuringTheBody(t *testing.T) {
	for name, die := range map[string]func(*visit){
		"closes": func(*visit) {},
		"resets": func(v *visit) { _ = v.Conn.(*net.TCPConn).SetLinger(0) },
	} {
		t.Run(name, func(t *testing.T) {
			p := proxyPlain(t, nil, func(v *visit) {
				v.head()
				_, _ = v.br.Discard(10)
				die(v)
			})
			tr := transport(t, specFor(pool.HTTP, p.addr, ""))
			r, s := slowly(http1.Framing{Kind: http1.Length, Length: 1 << 30})
			defer s.stop(io.EOF)
			go func() { _, _ = io.Copy(s.w, zeros{}) }()
			if e := failure(t, tr, r); e.Signal != pool.ResponseClosed || !e.Sent {
				t.Errorf("%v, sent %v: %v", e.Signal, e.Sent, e)
			}
		})
	}
}
