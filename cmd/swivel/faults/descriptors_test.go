package faults

import (
	"context"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"swivel/cmd/swivel/internal/swiveltest"
)

const noFiles = "cannot serve more connections"

// TestDescriptors: there are fewer descriptors than clients, first as the daemon
// knows from its start, then behind its back. It goes on accepting, open tunnels
// are not hurt, and afterwards everybody is served again.
func TestDescriptors(t *testing.T) {
	t.Parallel()
	u := newUpstream(t, sound)
	d := startDaemon(t, swiveltest.Setup{Lines: []string{u.hostPort}, Shell: "ulimit -n 150"})
	c := client{proxy: d.Listen}
	open, _, err := c.open("t.test:443")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()

	t.Run("known", func(t *testing.T) {
		crowd := newCrowd(t, d, 400)
		if _, err := c.visit("t.test:443"); err == nil {
			t.Error("there was a descriptor for one more: that shows nothing")
		}
		crowd.leave(t, open)
		servedAgain(t, d, c)
		note(t, "150 descriptors, 400 clients", "open tunnels go on, everybody served when they are gone; lines about it: %d", len(d.Lines(t, noFiles)))
	})
	t.Run("behind-its-back", func(t *testing.T) {
		lines := len(d.Lines(t, noFiles))
		limit := func(files uint64) {
			if err := unix.Prlimit(d.PID(), unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: files, Max: 150}, nil); err != nil {
				t.Fatal(err)
			}
		}
		pass(500 * time.Millisecond) // until nothing is closed any more
		limit(d.lowestFree(t) + 1)   // one client, and no proxy for it
		var codes []string
		for range 5 {
			got, err := c.visit("t.test:443")
			if err == nil {
				t.Error("there was a descriptor for one more: that shows nothing")
			}
			codes = append(codes, got.code)
		}
		crowd := newCrowd(t, d, 20)
		limit(150)
		crowd.leave(t, open)
		servedAgain(t, d, c)
		if m := d.Members(t); len(m) != 1 {
			t.Fatal(m)
		}
		for _, m := range d.Members(t) {
			if m.State != "closed" {
				t.Error("the proxy was blamed for it")
			}
		}
		note(t, "limit lowered while it runs", "clients were told %q; nobody blamed; lines about it: %d more", codes, len(d.Lines(t, noFiles))-lines)
	})
	_ = open.Close()
	after := d.settles(t, 10*time.Second, held{files: 16, goroutines: 150}) // with workers that 100 clients have made
	note(t, "left behind", "%v", after)
}

// lowestFree is the number that the next descriptor gets.
func (d daemon) lowestFree(t *testing.T) (n uint64) {
	t.Helper()
	for {
		if _, err := os.Lstat(fmt.Sprintf("/proc/%d/fd/%d", d.PID(), n)); err != nil {
			return n
		}
		n++
	}
}

// crowd is clients that connect and say nothing.
type crowd []net.Conn

func newCrowd(t *testing.T, d daemon, n int) (all crowd) {
	t.Helper()
	for range n {
		c, err := (*network)(nil).dial(context.Background(), "tcp", d.Listen)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// leave has all of them leave, while the open tunnel still works.
func (all crowd) leave(t *testing.T, open *tunnel) {
	t.Helper()
	if err := open.echo(1000); err != nil {
		t.Errorf("a tunnel that was open: %v", err)
	}
	for _, c := range all {
		_ = c.Close()
	}
}

// servedAgain wants a client to be served soon, and others then without a miss.
func servedAgain(t *testing.T, d daemon, c client) {
	t.Helper()
	swiveltest.Eventually(t, 10*time.Second, "a client is served again", func() bool { _, err := c.visit("t.test:443"); return err == nil })
	for range 20 {
		if _, err := c.visit("t.test:443"); err != nil {
			t.Errorf("a client was hurt: %v", err)
		}
	}
}
