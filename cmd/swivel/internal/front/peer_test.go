package front

import (
	"bufio"
	"io"
	"net"
	"strings"
	"sync"

	"swivel/pool/upstream/listentest"
)

// delivery is how the bytes of a scripted proxy travel.
type delivery string

const (
	normal     delivery = "normal"
	byteByByte delivery = "byte by byte"
	coalesced  delivery = "coalesced" // with all that follows, until the script reads
)

var deliveries = []delivery{normal, byteByByte, coalesced}

// fakeProxy is an upstream proxy that plays one script per connection.
type fakeProxy struct {
	ln   *net.TCPListener
	by   delivery
	wait sync.WaitGroup

	mu     sync.Mutex
	script func(*peer)
	heads  []string // what the connections asked for
	conns  map[*peer]struct{}
	count  int
}

// proxy starts a scripted proxy.
func (r *rig) proxy(script func(*peer)) *fakeProxy { return r.proxyBy(normal, script) }

func (r *rig) proxyBy(by delivery, script func(*peer)) *fakeProxy {
	r.t.Helper()
	ln, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		r.t.Fatal(err)
	}
	p := &fakeProxy{ln: ln, script: script, by: by, conns: map[*peer]struct{}{}}
	p.wait.Go(p.accept)
	r.closers = append(r.closers, p.close)
	return p
}

// closedPort is the address of a proxy that is not there.
func (r *rig) closedPort() string { return listentest.Reserved(r.t, "127.0.0.1").String() }

func (p *fakeProxy) addr() string { return p.ln.Addr().String() }

func (p *fakeProxy) accept() {
	for {
		conn, err := p.ln.AcceptTCP()
		if err != nil {
			return
		}
		c := &peer{TCPConn: conn, br: bufio.NewReader(conn), proxy: p}
		p.mu.Lock()
		p.conns[c] = struct{}{}
		p.count++
		script := p.script
		p.mu.Unlock()
		p.wait.Go(func() {
			script(c)
			c.close()
		})
	}
}

// become gives the connections to come another script.
func (p *fakeProxy) become(script func(*peer)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.script = script
}

func (p *fakeProxy) close() {
	_ = p.ln.Close()
	p.mu.Lock()
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.wait.Wait()
}

// asked is how many heads came, and the last of them.
func (p *fakeProxy) asked() (int, string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.heads) == 0 {
		return 0, ""
	}
	return len(p.heads), p.heads[len(p.heads)-1]
}

// accepted is how many connections came, and how many of them are open.
func (p *fakeProxy) accepted() (all, open int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count, len(p.conns)
}

// peer is one connection of a scripted proxy.
type peer struct {
	*net.TCPConn
	br    *bufio.Reader
	proxy *fakeProxy
	held  strings.Builder // coalesced: not sent yet
}

// head reads a request head and notes it.
func (c *peer) head() string {
	c.flush()
	var b strings.Builder
	for {
		line, err := c.br.ReadString('\n')
		b.WriteString(line)
		if err != nil {
			return ""
		}
		if line == "\r\n" {
			break
		}
	}
	c.proxy.mu.Lock()
	defer c.proxy.mu.Unlock()
	c.proxy.heads = append(c.proxy.heads, b.String())
	return b.String()
}

func (c *peer) send(text string) {
	switch c.proxy.by {
	case coalesced:
		c.held.WriteString(text)
	case byteByByte:
		for i := range len(text) {
			_, _ = c.Write([]byte{text[i]})
		}
	default:
		_, _ = io.WriteString(c, text)
	}
}

func (c *peer) flush() {
	if c.held.Len() > 0 {
		_, _ = io.WriteString(c, c.held.String())
		c.held.Reset()
	}
}

// take reads n bytes.
func (c *peer) take(n int) string {
	c.flush()
	b := make([]byte, n)
	n, _ = io.ReadFull(c.br, b)
	return string(b[:n])
}

// drain reads until the other side ends.
func (c *peer) drain() string {
	c.flush()
	b, _ := io.ReadAll(c.br)
	return string(b)
}

// echo hides that the connection can splice, which would cost descriptors.
func (c *peer) echo() {
	c.flush()
	_, _ = io.Copy(struct{ io.Writer }{c.TCPConn}, struct{ io.Reader }{c.br})
}

func (c *peer) reset() {
	c.flush()
	_ = c.SetLinger(0)
	_ = c.Close()
}

func (c *peer) close() {
	c.flush()
	_ = c.Close()
	c.proxy.mu.Lock()
	defer c.proxy.mu.Unlock()
	delete(c.proxy.conns, c)
}

const ok200 = "HTTP/1.1 200 OK\r\n\r\n"

// tunnels is the script of a good proxy in front of an echoing target.
func tunnels(c *peer) {
	if c.head() != "" {
		c.send(ok200)
		c.echo()
	}
}

// answers is the script of a proxy with one thing to say.
func answers(reply string) func(*peer) {
	return func(c *peer) {
		if c.head() != "" {
			c.send(reply)
		}
	}
}

// silent takes the request and waits for the other side to leave.
func silent(c *peer) {
	c.head()
	c.drain()
}
