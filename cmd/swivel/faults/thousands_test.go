package faults

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// others are the clients who ask for nothing unusual, while something is done to
// the daemon.
type others struct {
	*load
	mu   sync.Mutex
	took []time.Duration
}

// startOthers begins with so many at once. They open tunnels and ask for pages, in
// turn.
func startOthers(clients int, c client) *others {
	o := new(others)
	o.load = startLoad(clients, func(n, turn int) (err error) {
		began := time.Now()
		target := fmt.Sprintf("t%d-%d.test", n, turn%50)
		if turn%2 == 0 {
			_, err = c.visit(target + ":443")
		} else {
			_, err = c.get(target)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.took = append(o.took, time.Since(began))
		return err
	})
	return o
}

// served waits until so many have had their answer, and says how long that took
// them. None may have been hurt.
func (o *others) served(t *testing.T, n int) string {
	t.Helper()
	swiveltest.Eventually(t, 2*time.Minute, fmt.Sprint(n, " others are served"), func() bool { return o.good.Load() >= int64(n) })
	o.end(t, time.Now())
	slices.Sort(o.took)
	at := func(percent int) time.Duration {
		return o.took[(len(o.took)-1)*percent/100].Round(100 * time.Microsecond)
	}
	return fmt.Sprintf("%d others served, half of them within %v, 95 %% within %v, the slowest in %v", len(o.took), at(50), at(95), at(100))
}

// TestThousandSlowClients: a thousand who never end their request's head, a part of
// them byte by byte. Others are served meanwhile, and the thousand are sent away.
func TestThousandSlowClients(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, swiveltest.Setup{Lines: []string{newUpstream(t, sound).hostPort}})
	c := client{proxy: d.Listen}
	if _, err := c.visit("t.test:443"); err != nil {
		t.Fatal(err)
	}
	before := d.holds(t)
	before.goroutines += 256 // those that are kept to be used again
	slow := newCrowd(t, d, 1000)
	began := time.Now()
	for i, conn := range slow {
		_, _ = io.WriteString(conn, []string{"", "GET http://t.test/ HTTP/1.1\r\nX: ", "CONNECT t.te"}[i%3])
	}
	others := startOthers(8, c)
	ended := slow.drip()
	note(t, "1,000 clients never end their head", "%s", others.served(t, 500))
	select {
	case <-ended:
	case <-time.After(45 * time.Second):
		t.Fatal("they are not sent away")
	}
	note(t, "the 1,000", "sent away after %v, then %v", time.Since(began).Round(100*time.Millisecond), d.settles(t, 20*time.Second, before))
}

// drip has every other one send a byte now and then, until all have been sent away.
func (all crowd) drip() (ended <-chan struct{}) {
	var open sync.WaitGroup
	for i, conn := range all {
		open.Go(func() {
			defer conn.Close()
			gone := make(chan struct{})
			if i%2 == 0 {
				go dripInto(conn, gone)
			}
			_, _ = io.Copy(io.Discard, conn)
			close(gone)
		})
	}
	done := make(chan struct{})
	go func() { open.Wait(); close(done) }()
	return done
}

func dripInto(conn net.Conn, gone <-chan struct{}) {
	for {
		select {
		case <-gone:
			return
		case <-time.After(500 * time.Millisecond):
			_, _ = io.WriteString(conn, "x")
		}
	}
}

// TestThousandBlackHoles: a thousand proxies of which nobody knows anything yet take
// every connection and never answer. Half of the traffic is theirs by weight, and
// nobody is left without an answer for it.
func TestThousandBlackHoles(t *testing.T) {
	t.Parallel()
	hole := newUpstream(t, func(v *visit) { _, _ = io.Copy(io.Discard, v.in) })
	var lines []string
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf("http://u%d:p@%s name=hole%d", i, hole.hostPort, i))
	}
	for i := range 4 {
		lines = append(lines, fmt.Sprintf("%s name=sound%d weight=250", newUpstream(t, sound).hostPort, i))
	}
	d := startDaemon(t, swiveltest.Setup{Lines: lines})
	others := startOthers(20, client{proxy: d.Listen})
	note(t, "1,000 proxies never answer", "%s", others.served(t, either(300, 2000)))
	if hole.came(time.Time{}, time.Now()) < 100 {
		t.Error("hardly anybody met them: that shows nothing")
	}
	for name, m := range d.Members(t) {
		if m.State != "closed" && strings.HasPrefix(name, "sound") {
			t.Errorf("%s is %s", name, m.State)
		}
	}
}
