package upstream

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/http1"
	"swivel/pool/upstream/leaktest"
)

// The limit on the wait for a response's head must not be left on its body.
// The time for a response alone would let a server have gigabytes passed on.
func TestInterimResponsesWithoutEndAreGivenUp(t *testing.T) {
	p := proxyPlain(t, nil, func(v *visit) {
		for v.head() {
			for err := error(nil); err == nil; {
				_, err = io.WriteString(v, "HTTP/1.1 102 Processing\r\n\r\n")
			}
		}
	})
	passed := 0
	r := asking("GET")
	r.Interim = func(*http1.Response) { passed++ }
	if e := failure(t, transport(t, specFor(pool.HTTP, p.addr, "")), r); e.Signal != pool.ResponseGarbage {
		t.Errorf("got %v", e)
	}
	if least, most := 5000, maxInterimBytes/20; passed < least || passed > most {
		t.Errorf("%d were passed on, want %d to %d", passed, least, most)
	}
}

func TestLimitEndsWithTheHead(t *testing.T) {
	const limit = 50 * time.Millisecond
	overtaken, rest := slowly(length5)
	for name, r := range map[string]*Request{
		"held":      asking("POST"),
		"streamed":  sending("POST", "hello", length5),
		"overtaken": overtaken,
	} {
		t.Run(name, func(t *testing.T) {
			leaktest.Watch(t)
			went := make(chan struct{})
			p := proxyPlain(t, nil, func(v *visit) {
				v.head()
				_, _ = io.WriteString(v, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na")
				<-went
				_, _ = io.WriteString(v, "b")
				_, _ = io.Copy(io.Discard, v.br)
			})
			tr := NewTransport(patient(), specFor(pool.HTTP, p.addr, ""), limit)
			defer tr.Close()
			resp, err := tr.RoundTrip(background(t), background(t), tr.spec, r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Close()
			if r == overtaken {
				_, _ = io.WriteString(rest.w, "hello")
			}
			time.AfterFunc(3*limit, func() { close(went) })
			if body, err := io.ReadAll(&resp.Body); err != nil || string(body) != "ab" {
				t.Errorf("%q, %v", body, err)
			}
		})
	}
}

func TestSilentProxyRunsIntoTheLimit(t *testing.T) {
	for name, r := range map[string]*Request{
		"held":     asking("GET"),
		"streamed": sending("POST", "hello", length5),
	} {
		t.Run(name, func(t *testing.T) {
			leaktest.Watch(t)
			p := proxyPlain(t, nil, func(v *visit) { _, _ = io.Copy(io.Discard, v.br) })
			tr := NewTransport(patient(), specFor(pool.HTTP, p.addr, ""), 50*time.Millisecond)
			defer tr.Close()
			if e := failure(t, tr, r); e.Signal != pool.ResponseTimeout || !e.Sent {
				t.Errorf("%v, sent %v", e.Signal, e.Sent)
			}
		})
	}
}

// However far a request has come, the end of the exchange ends it at once and
// blames nobody.
func TestEndOfLifeEndsTheRequest(t *testing.T) {
	for name, body := range map[string]http1.Framing{"held": {}, "streamed": chunked} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan bool, 1)
			p := proxyPlain(t, nil, func(v *visit) {
				v.head()
				asked <- true
				_, _ = io.Copy(io.Discard, v.br)
			})
			tr := transport(t, specFor(pool.HTTP, p.addr, ""))
			life, end := context.WithCancel(background(t))
			go func() { <-asked; end() }()
			r := asking("GET")
			if body.Kind == http1.Chunked {
				r, _ = slowly(chunked)
			}
			_, err := tr.RoundTrip(background(t), life, tr.spec, r)
			if SignalOf(err) != pool.ClientGone {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("within the body", func(t *testing.T) {
		p := proxyPlain(t, nil, func(v *visit) {
			v.head()
			_, _ = io.WriteString(v, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na")
			_, _ = io.Copy(io.Discard, v.br)
		})
		tr := transport(t, specFor(pool.HTTP, p.addr, ""))
		life, end := context.WithCancel(background(t))
		resp, err := tr.RoundTrip(background(t), life, tr.spec, asking("GET"))
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Millisecond, end)
		if _, err := io.ReadAll(&resp.Body); err == nil {
			t.Error("the body goes on")
		}
		resp.Close()
		if n := tr.idling(); n != 0 {
			t.Errorf("%d idle connections", n)
		}
	})
}

func TestWebsocketConnectionIsGivenAwayWithoutLimits(t *testing.T) {
	const limit = 50 * time.Millisecond
	leaktest.Watch(t)
	p := proxyPlain(t, nil, func(v *visit) {
		v.head()
		_, _ = io.WriteString(v, "HTTP/1.1 200 OK\r\n\r\n")
		v.head()
		_, _ = io.WriteString(v, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nearly")
		_, _ = io.Copy(struct{ io.Writer }{v}, struct{ io.Reader }{v.br})
	})
	tr := NewTransport(patient(), specFor(pool.HTTP, p.addr, ""), limit)
	defer tr.Close()
	r := asking("GET")
	r.Upgrade = true
	resp, err := tr.RoundTrip(background(t), background(t), tr.spec, r)
	if err != nil {
		t.Fatal(err)
	}
	conn, early := resp.Upgraded()
	defer conn.Close()
	timer := time.NewTimer(2 * limit)
	<-timer.C
	if _, err := io.WriteString(conn, "ping"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4)
	if _, err := io.ReadFull(io.MultiReader(strings.NewReader(strings.TrimPrefix(string(early), "early")), conn), b); err != nil || string(b) != "ping" {
		t.Errorf("%q, %v", b, err)
	}
}
