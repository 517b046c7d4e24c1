package soak

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// patience is how long a client waits for each step.
const patience = 40 * time.Second

// errLeft is how an exchange ends whose client meant to leave.
var errLeft = errors.New("the client left")

// clients are all who ask swivel. They are safe for concurrent use.
type clients struct {
	proxy  string // host:port
	ledger *ledger
	tally  *Tally
	number atomic.Int64 // of exchanges
	kept   chan *conn   // connections for plain requests
}

// conn is a client's connection.
type conn struct {
	*net.TCPConn
	in *bufio.Reader
}

var dialer = net.Dialer{Timeout: patience, KeepAlive: -1}

func (c *clients) dial() (*conn, error) {
	raw, err := dialer.DialContext(context.Background(), "tcp", c.proxy)
	if err != nil {
		return nil, err
	}
	k := &conn{raw.(*net.TCPConn), bufio.NewReader(raw)}
	return k, k.hurry()
}

// hurry gives the next step its time.
func (k *conn) hurry() error { return k.SetDeadline(time.Now().Add(patience)) }

// target returns one that nobody else asks for.
func (c *clients) target(prefix string) string {
	return fmt.Sprintf("%st%d.test:443", prefix, c.number.Add(1))
}

// exchange does one exchange of a kind, and counts it.
func (c *clients) exchange(kind, target string, do func() error) {
	c.tally.open(kind)
	err := do()
	c.tally.close(kind, err, c.ledger.take(target))
}

// tunnel opens a tunnel, uses it and closes it.
func (c *clients) tunnel(kind, prefix string, use func(*conn, string) error) {
	target := c.target(prefix)
	k, err := c.dial()
	if err != nil { // nothing was asked: nobody has counted it
		c.tally.open(kind)
		c.tally.close(kind, fmt.Errorf("cannot connect: %w", err), "")
		return
	}
	defer k.Close()
	c.exchange(kind, target, func() error {
		ask := k.connect
		if kind == kindSOCKS {
			ask = k.connectSOCKS
		}
		if prefix == heldPrefix {
			return c.leave(k, target)
		}
		if err := ask(target); err != nil {
			return err
		}
		return use(k, target)
	})
}

// connect asks for a tunnel with CONNECT.
func (k *conn) connect(target string) error {
	if _, err := fmt.Fprintf(k, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target); err != nil {
		return fmt.Errorf("CONNECT: %w", err)
	}
	resp, err := http.ReadResponse(k.in, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return fmt.Errorf("the answer to CONNECT: %w", err)
	}
	return refusal(resp)
}

// refusal is the error that an answer of swivel's own stands for.
func refusal(resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &Refused{resp.StatusCode, resp.Header.Get("X-Swivel-Error")}
}

// socksCodes are what the replies of a SOCKS5 server stand for.
var socksCodes = map[byte]string{1: "attempts_spent", 3: "no_proxy", 4: "target_down", 6: "timeout"}

// connectSOCKS asks for a tunnel with SOCKS5.
func (k *conn) connectSOCKS(target string) error {
	host, _, err := net.SplitHostPort(target)
	if err != nil {
		return err
	}
	request := append([]byte{5, 1, 0, 5, 1, 0, 3, byte(len(host))}, host...)
	if _, err := k.Write(append(request, 443>>8, 443&255)); err != nil {
		return fmt.Errorf("SOCKS5: %w", err)
	}
	var reply [12]byte // two for the method, and one with an IPv4 address
	if _, err := io.ReadFull(k.in, reply[:]); err != nil {
		return fmt.Errorf("the answer to SOCKS5: %w", err)
	}
	if reply[3] != 0 {
		return &Refused{int(reply[3]), socksCodes[reply[3]]}
	}
	return nil
}

// echo sends so many bytes and wants them back.
func (k *conn) echo(bytesCount int) error {
	if err := k.hurry(); err != nil {
		return err
	}
	sent := random(bytesCount)
	wrote := make(chan error, 1)
	go func() {
		_, err := k.Write(sent)
		wrote <- err
	}()
	got := make([]byte, bytesCount)
	_, err := io.ReadFull(k.in, got)
	if err != nil {
		_ = k.Close() // or the other half may wait
		<-wrote
		return fmt.Errorf("in the tunnel: %w", err)
	}
	if err := <-wrote; err != nil {
		return fmt.Errorf("in the tunnel: %w", err)
	}
	if !bytes.Equal(got, sent) {
		return errors.New("in the tunnel: other bytes came back")
	}
	return nil
}

// random is content that differs from any other.
func random(n int) []byte {
	p := make([]byte, n)
	seed := rand.Uint64()
	for i := range p {
		p[i] = byte(seed >> (i % 8 * 8))
		if i%8 == 7 {
			seed = seed*6364136223846793005 + 1442695040888963407
		}
	}
	return p
}
