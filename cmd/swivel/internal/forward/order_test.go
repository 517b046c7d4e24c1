package forward_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"swivel/pool"
)

// echoing answers with the path that it was asked for.
func echoing(name string) func(*peer) {
	return func(p *peer) {
		for {
			request, ok := p.request()
			if !ok {
				return
			}
			path := strings.Fields(request)[1]
			p.send(fmt.Sprintf("HTTP/1.1 200 OK\r\nVia-Proxy: %s\r\nContent-Length: %d\r\n\r\n", name, len(path)), path)
		}
	}
}

func TestRequestsOfOneConnectionRotateOverTheProxies(t *testing.T) {
	var specs []*pool.Spec
	var servers []*server
	for i := range 3 {
		s := serve(t, normal, echoing(fmt.Sprint(i)))
		servers = append(servers, s)
		specs = append(specs, s.spec())
	}
	r := newRig(t, limits{}, specs...)
	c := r.dial()
	used := map[string]int{}
	for i := range 60 {
		target := fmt.Sprintf("http://site%d.test/%d", i%2, i)
		c.write("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n")
		head, body := c.response()
		if body != target {
			t.Fatalf("the answer to %s is %q", target, body)
		}
		used[field(head, "Via-Proxy")]++
	}
	if len(used) != 3 {
		t.Errorf("only these served: %v", used)
	}
	for i, s := range servers {
		if n := s.connections(); n != 1 {
			t.Errorf("proxy %d: %d connections for requests one after the other", i, n)
		}
	}
}

func TestPipelinedRequestsAreAnsweredInOrder(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, normal, func(p *peer) {
		if p.index == 0 {
			<-release // the first is slow
		}
		echoing("x")(p)
	})
	r := newRig(t, limits{}, s.spec())
	c := r.dial()
	var all strings.Builder
	for i := range 5 {
		fmt.Fprintf(&all, "GET http://site.test/%d HTTP/1.1\r\nHost: x\r\n\r\n", i)
		fmt.Fprintf(&all, "POST http://site.test/%d HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", i)
	}
	c.write(all.String())
	close(release)
	for i := range 10 {
		if _, body := c.response(); body != fmt.Sprintf("http://site.test/%d", i/2) {
			t.Errorf("answer %d is %q", i, body)
		}
	}
}

func TestConcurrentClientsGetTheirOwnAnswers(t *testing.T) {
	var specs []*pool.Spec
	for i := range 3 {
		specs = append(specs, serve(t, coalesced, echoing(fmt.Sprint(i))).spec())
	}
	r := newRig(t, limits{}, specs...)
	var clients sync.WaitGroup
	for i := range 20 {
		c := r.dial()
		clients.Go(func() {
			for j := range 30 {
				target := fmt.Sprintf("http://site.test/%d/%d", i, j)
				body := []string{"\r\n", "Content-Length: 3\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"}[j%3]
				method := []string{"GET ", "POST ", "PUT "}[j%3]
				if _, err := c.Write([]byte(method + target + " HTTP/1.1\r\nHost: x\r\n" + body)); err != nil {
					t.Error(err)
					return
				}
				head, answer, err := c.tryResponse()
				if err != nil || answer != target {
					t.Errorf("the answer to %s is %q %q, %v", target, head, answer, err)
					return
				}
				if strings.Contains(head, "\r\nConnection: close\r\n") { // on a busy machine
					c = r.dial()
				}
			}
		})
	}
	clients.Wait()
}

func TestCONNECTMayFollowAPlainRequest(t *testing.T) {
	s := serve(t, normal, func(p *peer) {
		head, _ := p.head()
		if strings.HasPrefix(head, "GET ") {
			p.send("HTTP/1.1 204 No Content\r\n\r\n", "")
			head, _ = p.head()
		}
		if strings.HasPrefix(head, "CONNECT ") {
			p.send("HTTP/1.1 200 OK\r\n\r\n", "")
			line, _ := p.br.ReadString('\n')
			p.send(line, "")
		}
	})
	r := newRig(t, limits{response: 300e6}, s.spec())
	c := r.dial()
	c.write(crlf(get + "\n"))
	c.head()
	c.write("CONNECT site.test:22 HTTP/1.1\r\nHost: site.test:22\r\n\r\n")
	if head := c.head(); status(head) != "200" {
		t.Fatalf("the client got %q", head)
	}
	late := r.dial() // by then the limits of the plain request are over
	late.write(crlf(post + "Content-Length: 5\n\n"))
	late.refused("408", "bad_request")
	c.write("ping\n")
	if got := c.take(5); got != "ping\n" {
		t.Errorf("the client got %q", got)
	}
}
