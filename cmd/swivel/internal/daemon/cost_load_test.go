package daemon

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	costProxies = 100
	costClients = 16
	// costFailures is how often an attempt fails, and opens a breaker that a
	// probe closes again: three transitions.
	costFailures = 0.07
)

// costUpstreams starts proxies that fail now and then and writes their list into
// dir. Behind each 200 they are the target too, and echo one message.
func costUpstreams(t testing.TB, dir string) {
	t.Helper()
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait) // runs last
	var list strings.Builder
	for i := range costProxies {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = ln.Close() })
		fmt.Fprintf(&list, "%s name=p%d\n", ln.Addr(), i)
		serving.Go(func() {
			for {
				c, err := ln.Accept()
				if err != nil {
					return
				}
				serving.Go(func() { costUpstream(c) })
			}
		})
	}
	if err := os.WriteFile(filepath.Join(dir, "proxies.txt"), []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func costUpstream(c net.Conn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	in := bufio.NewReader(c)
	if _, err := http.ReadRequest(in); err != nil {
		return
	}
	if rand.Float64() < costFailures {
		_, _ = io.WriteString(c, "HTTP/1.1 501 Not Implemented\r\n\r\n")
		return
	}
	if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	if message, err := in.ReadSlice('\n'); err == nil {
		_, _ = c.Write(message)
	}
}

// costLoad makes n exchanges through the daemon, each in a tunnel of its own,
// and returns how many were served.
func costLoad(t testing.TB, addr string, n int) int {
	var served, next atomic.Int64
	var clients sync.WaitGroup
	for range costClients {
		clients.Go(func() {
			for {
				i := next.Add(1)
				if i > int64(n) {
					return
				}
				switch ok, err := costExchange(addr, i); {
				case err != nil:
					t.Error(err)
					return
				case ok:
					served.Add(1)
				}
			}
		})
	}
	clients.Wait()
	return int(served.Load())
}

// costExchange is one tunnel; false if the daemon refuses it.
func costExchange(addr string, i int64) (bool, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return false, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	target := fmt.Sprintf("t%d.test:443", i%50)
	if _, err := fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target); err != nil {
		return false, err
	}
	in := bufio.NewReader(c)
	resp, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return false, err
	}
	if resp.StatusCode != http.StatusOK {
		return false, nil
	}
	if _, err := io.WriteString(c, "hello\n"); err != nil {
		return false, err
	}
	if answer, err := in.ReadString('\n'); answer != "hello\n" {
		return false, errors.Join(err, fmt.Errorf("the answer is %q", answer))
	}
	return true, nil
}
