package faults

import (
	"math/rand/v2"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// wire joins two networks. Every packet goes through the test, which may lose
// it, or hand it over late: what tc netem does, on machines that have no such
// module too.
type wire struct {
	near, far         *network
	nearAddr, farAddr string // their addresses on the wire

	cut             atomic.Bool  // nothing gets through: peers vanish without a word
	lossPercent     atomic.Int64 // of the packets
	delay           atomic.Int64 // of each packet, in nanoseconds
	passed, dropped atomic.Int64
}

// newWire makes two networks and joins them.
func newWire(t *testing.T) *wire {
	t.Helper()
	w := &wire{near: newNetwork(t), far: newNetwork(t), nearAddr: "10.231.77.1", farAddr: "10.231.77.2"}
	near, far := w.near.plug(t, w.nearAddr), w.far.plug(t, w.farAddr)
	var pumps sync.WaitGroup
	pumps.Go(func() { w.pump(near, far) })
	pumps.Go(func() { w.pump(far, near) })
	t.Cleanup(func() {
		_ = near.Close()
		_ = far.Close()
		pumps.Wait()
	})
	return w
}

// plug makes an interface whose packets the test reads and writes.
func (n *network) plug(t *testing.T, address string) (packets *os.File) {
	t.Helper()
	err := onThread(func() error {
		if err := n.enter(); err != nil {
			return err
		}
		fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if err != nil {
			return os.NewSyscallError("/dev/net/tun", err)
		}
		r, err := unix.NewIfreq("wire0")
		if err != nil {
			return err
		}
		r.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, r); err != nil {
			return os.NewSyscallError("TUNSETIFF", err)
		}
		// Only now: a device that is not set up yet cannot be polled.
		packets = os.NewFile(uintptr(fd), "tun")
		return raise("wire0", netip.MustParseAddr(address), 24)
	})
	if err != nil {
		notRun(t, "this machine gives no tun device: %v", err)
	}
	return packets
}

// packet is one on its way.
type packet struct {
	due  time.Time
	data []byte
}

// pump carries packets until from is closed.
func (w *wire) pump(from, to *os.File) {
	line := make(chan packet, 4096)
	var delivering sync.WaitGroup
	delivering.Go(func() {
		for p := range line {
			pass(time.Until(p.due))
			_, _ = to.Write(p.data) // fails in the end only, when the other is closed
		}
	})
	defer delivering.Wait()
	defer close(line)
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if w.cut.Load() || rand.Int64N(100) < w.lossPercent.Load() {
			w.dropped.Add(1)
			continue
		}
		w.passed.Add(1)
		select {
		case line <- packet{time.Now().Add(time.Duration(w.delay.Load())), append([]byte(nil), buf[:n]...)}:
		default: // as a router with a full queue does
			w.dropped.Add(1)
		}
	}
}
