package faults

import (
	"context"
	"net"
	"net/netip"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// network is a namespace of the kernel's: interfaces, addresses and ports that
// nobody else has. It has no name, and ends with the last process and socket in
// it. Nil: that of the test.
type network struct{ file *os.File }

// newNetwork makes one with nothing but a loopback.
func newNetwork(t *testing.T) *network {
	t.Helper()
	wantRoot(t, "make a network namespace")
	var n *network
	err := onThread(func() (err error) {
		if err = unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return os.NewSyscallError("unshare", err)
		}
		file, err := os.Open("/proc/thread-self/ns/net")
		if err == nil {
			n = &network{file}
			err = raise("lo", netip.MustParseAddr("127.0.0.1"), 8)
		}
		return err
	})
	if err != nil {
		notRun(t, "this machine gives no network namespace: %v", err)
	}
	t.Cleanup(func() { _ = n.file.Close() })
	return n
}

// onThread runs f on a thread of its own, which ends with it.
func onThread(f func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: nobody else may get a thread in another network
		result <- f()
	}()
	return <-result
}

// enter moves the calling thread into the network for good.
func (n *network) enter() error {
	if n == nil {
		return nil
	}
	return os.NewSyscallError("setns", unix.Setns(int(n.file.Fd()), unix.CLONE_NEWNET))
}

// dial connects to an address in the network.
func (n *network) dial(ctx context.Context, kind, address string) (conn net.Conn, err error) {
	dialer := net.Dialer{Timeout: 10 * time.Second}
	if n == nil {
		return dialer.DialContext(ctx, kind, address)
	}
	err = onThread(func() error {
		if err := n.enter(); err != nil {
			return err
		}
		conn, err = dialer.DialContext(ctx, kind, address)
		return err
	})
	return conn, err
}

// listen listens in the network.
func (n *network) listen(t *testing.T, address string) net.Listener {
	t.Helper()
	var ln net.Listener
	err := onThread(func() (err error) {
		if err = n.enter(); err == nil {
			ln, err = net.Listen("tcp", address)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ln
}

// raise gives an interface its address, in the network of the calling thread.
func raise(name string, address netip.Addr, bits int) error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	mask := net.CIDRMask(bits, 32)
	for _, step := range []struct {
		request uint
		fill    func(*unix.Ifreq) error
	}{
		{unix.SIOCSIFADDR, func(r *unix.Ifreq) error { return r.SetInet4Addr(address.AsSlice()) }},
		{unix.SIOCSIFNETMASK, func(r *unix.Ifreq) error { return r.SetInet4Addr(mask) }},
		{unix.SIOCSIFFLAGS, func(r *unix.Ifreq) error { r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING); return nil }},
	} {
		r, err := unix.NewIfreq(name)
		if err == nil {
			err = step.fill(r)
		}
		if err == nil {
			err = unix.IoctlIfreq(socket, step.request, r)
		}
		if err != nil {
			return os.NewSyscallError("address of "+name, err)
		}
	}
	return nil
}
