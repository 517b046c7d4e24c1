package soak

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// work is one thing that clients do, and how often among all of them.
type work struct {
	share int // of a hundred
	do    func(*clients)
}

// mix is what clients do. Long tunnels come on top.
var mix = []work{
	{40, (*clients).plain},
	{32, func(c *clients) { c.tunnel(kindConnect, "", short) }},
	{10, func(c *clients) { c.tunnel(kindSOCKS, "", short) }},
	{5, func(c *clients) { c.tunnel(kindConnect, "", halfClose) }},
	{3, func(c *clients) { c.tunnel(kindConnect, "", large) }},
	{4, (*clients).upload},
	{3, func(c *clients) { c.tunnel(kindConnect, heldPrefix, nil) }},
	{3, func(c *clients) { c.tunnel(kindConnect, "", leaveInside) }},
}

func short(k *conn, _ string) error { return k.echo(512) }

// large is long enough for the relay to go over to splicing.
func large(k *conn, _ string) error { return k.echo(1 << 20) }

// halfClose says all, says that it was all, and reads on until the end.
func halfClose(k *conn, _ string) error {
	sent := random(4000)
	if _, err := k.Write(sent); err != nil {
		return fmt.Errorf("in the tunnel: %w", err)
	}
	if err := k.CloseWrite(); err != nil {
		return fmt.Errorf("in the tunnel: %w", err)
	}
	got, err := io.ReadAll(k.in)
	switch {
	case err != nil:
		return fmt.Errorf("in the tunnel: %w", err)
	case string(got) != string(sent):
		return fmt.Errorf("in the tunnel: of %d bytes %d came back", len(sent), len(got))
	}
	return nil
}

// leaveInside resets its connection in the middle of a transfer.
func leaveInside(k *conn, _ string) error {
	if err := k.echo(100); err != nil {
		return err
	}
	_, _ = k.Write(random(100_000))
	_ = k.SetLinger(0)
	_ = k.Close()
	return errLeft
}

// leave goes as soon as an upstream has been asked, and so before any answer,
// unless there is one already.
func (c *clients) leave(k *conn, target string) error {
	asked := c.ledger.await(target)
	defer c.ledger.asked(target)
	answered := make(chan error, 1)
	go func() { answered <- k.connect(target) }()
	select {
	case <-asked:
		_ = k.Close()
		<-answered
		return errLeft
	case err := <-answered:
		if err == nil {
			return errors.New("a tunnel was opened that no upstream grants")
		}
		return err
	}
}

// long stays open and says something now and then, until ctx ends.
func long(ctx context.Context, life time.Duration) func(*conn, string) error {
	return func(k *conn, _ string) error {
		next := time.NewTicker(time.Second)
		defer next.Stop()
		for over := time.Now().Add(life); time.Now().Before(over); {
			if err := k.echo(100); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return nil
			case <-next.C:
			}
		}
		return nil
	}
}

// plain makes a GET on a connection that is kept.
func (c *clients) plain() {
	c.request(http.MethodGet, nil, func(resp *http.Response, got []byte) error {
		if len(got) != bodySize {
			return fmt.Errorf("a body of %d bytes", len(got))
		}
		return nil
	})
}

// upload makes a POST with a body that swivel does not hold, half of them in
// chunks.
func (c *clients) upload() {
	sent := random(200_000)
	var from io.Reader = strings.NewReader(string(sent))
	if sent[0]%2 == 0 {
		from = io.MultiReader(from) // of which net/http does not know the length
	}
	c.request(http.MethodPost, from, func(_ *http.Response, got []byte) error {
		if want := fmt.Sprint(len(sent)); string(got) != want {
			return fmt.Errorf("%.20q bytes arrived, of %s", got, want)
		}
		return nil
	})
}

// request makes a plain request on a connection that is kept, or a new one.
func (c *clients) request(method string, from io.Reader, check func(*http.Response, []byte) error) {
	target := strings.TrimSuffix(c.target(""), ":443")
	k, err := c.keptConn()
	if err != nil {
		c.tally.open(kindPlain)
		c.tally.close(kindPlain, fmt.Errorf("cannot connect: %w", err), "")
		return
	}
	c.exchange(kindPlain, target, func() error {
		resp, got, err := k.ask(method, target, from)
		if err != nil || resp.Close {
			_ = k.Close()
		} else {
			c.keep(k)
		}
		if err != nil {
			return err
		}
		if err := refusal(resp); err != nil {
			return err
		}
		return check(resp, got)
	})
}

func (k *conn) ask(method, target string, from io.Reader) (*http.Response, []byte, error) {
	request, err := http.NewRequest(method, "http://"+target+"/", from)
	if err != nil {
		return nil, nil, err
	}
	if err := k.hurry(); err != nil {
		return nil, nil, err
	}
	wrote := make(chan error, 1)
	go func() {
		out := bufio.NewWriter(k)
		err := request.WriteProxy(out)
		if err == nil {
			err = out.Flush()
		}
		wrote <- err
	}()
	resp, err := http.ReadResponse(k.in, request)
	var got []byte
	if err == nil {
		got, err = io.ReadAll(resp.Body)
	}
	if err != nil {
		_ = k.Close()
		<-wrote
		return nil, nil, fmt.Errorf("%s: %w", method, err)
	}
	if resp.StatusCode != http.StatusOK {
		resp.Close = true // it may have come before all was sent
		_ = k.Close()
	}
	if err := <-wrote; err != nil && resp.StatusCode == http.StatusOK {
		return nil, nil, fmt.Errorf("%s: %w", method, err)
	}
	return resp, got, nil
}

func (c *clients) keptConn() (*conn, error) {
	select {
	case k := <-c.kept:
		return k, nil
	default:
		return c.dial()
	}
}

func (c *clients) keep(k *conn) {
	select {
	case c.kept <- k:
	default:
		_ = k.Close()
	}
}

// closeKept ends the connections that nobody uses.
func (c *clients) closeKept() {
	for {
		select {
		case k := <-c.kept:
			_ = k.Close()
		default:
			return
		}
	}
}
