package faults

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// clientPatience is how long a client waits for everything.
const clientPatience = 40 * time.Second

// client is somebody who asks the daemon.
type client struct {
	proxy string
	user  string   // with routing keys; may be empty
	in    *network // nil: that of the test
}

// answer is what a client was told.
type answer struct {
	status int
	code   string // the daemon's own reason when it refused
	proxy  string // the id of who serves
	moved  string // why the session is with another proxy
}

func (c client) authorization() string {
	if c.user == "" {
		return ""
	}
	return "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(c.user+":x")) + "\r\n"
}

// tunnel is a client's end of an open CONNECT.
type tunnel struct {
	net.Conn
	in *bufio.Reader
}

// open asks for a tunnel. Any answer but a 200 is an error, too.
func (c client) open(target string) (*tunnel, answer, error) {
	conn, err := c.in.dial(context.Background(), "tcp", c.proxy)
	if err != nil {
		return nil, answer{}, err
	}
	_ = conn.SetDeadline(time.Now().Add(clientPatience))
	u := &tunnel{conn, bufio.NewReader(conn)}
	_, err = fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", target, target, c.authorization())
	var resp *http.Response
	if err == nil {
		resp, err = http.ReadResponse(u.in, &http.Request{Method: http.MethodConnect})
	}
	if err != nil {
		_ = conn.Close()
		return nil, answer{}, fmt.Errorf("CONNECT: %w", err)
	}
	got := answer{resp.StatusCode, resp.Header.Get("X-Swivel-Error"), resp.Header.Get("X-Swivel-Proxy"), resp.Header.Get("X-Swivel-Session-Moved")}
	if got.status != http.StatusOK {
		_ = conn.Close()
		return nil, got, fmt.Errorf("CONNECT: %s (%s)", resp.Status, got.code)
	}
	return u, got, nil
}

// echo sends so many bytes of chance and wants them back.
func (u *tunnel) echo(bytes int) error {
	sent := make([]byte, bytes)
	for i := range sent {
		sent[i] = byte(rand.Uint32())
	}
	wrote := make(chan error, 1)
	go func() {
		_, err := u.Write(sent)
		wrote <- err
	}()
	got := make([]byte, bytes)
	if _, err := io.ReadFull(u.in, got); err != nil {
		return fmt.Errorf("in the tunnel: %w", err)
	}
	if string(got) != string(sent) {
		return fmt.Errorf("in the tunnel: %d bytes came back as others", bytes)
	}
	return <-wrote
}

// visit opens a tunnel, uses it and closes it.
func (c client) visit(target string) (answer, error) {
	u, got, err := c.open(target)
	if err != nil {
		return got, err
	}
	defer u.Close()
	return got, u.echo(64)
}

// get makes a plain request on a connection of its own.
func (c client) get(target string) (answer, error) {
	conn, err := c.in.dial(context.Background(), "tcp", c.proxy)
	if err != nil {
		return answer{}, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(clientPatience))
	if _, err := fmt.Fprintf(conn, "GET http://%s/ HTTP/1.1\r\nHost: %s\r\n%sConnection: close\r\n\r\n", target, target, c.authorization()); err != nil {
		return answer{}, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return answer{}, fmt.Errorf("GET: %w", err)
	}
	defer resp.Body.Close()
	got := answer{status: resp.StatusCode, code: resp.Header.Get("X-Swivel-Error")}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return got, fmt.Errorf("body: %w", err)
	}
	if got.status != http.StatusOK {
		return got, fmt.Errorf("GET: %s (%s)", resp.Status, got.code)
	}
	return got, nil
}
