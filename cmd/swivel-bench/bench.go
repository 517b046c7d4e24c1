package main

import (
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"swivel/cmd/swivel-bench/internal/peer"
	"swivel/cmd/swivel-bench/internal/process"
	"swivel/cmd/swivel-bench/internal/upstream"
)

// upstreams is how many proxies a pool has.
const upstreams = 4

// bench is what every measurement needs: upstream proxies, a folder, and swivel.
type bench struct {
	dir     string
	swivel  string // a copy, so that the next build does not change what is measured
	proxies *upstream.Proxies
	setting peer.Setting
}

func newBench(swivel string) (b *bench, err error) {
	fds, err := raiseFDs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "swivel-bench-")
	if err != nil {
		return nil, err
	}
	b = &bench{dir: dir, swivel: filepath.Join(dir, "swivel")}
	if err = os.Chmod(dir, 0o755); err == nil { // squid and nobody have to enter
		err = copyProgram(b.swivel, swivel)
	}
	if err == nil {
		b.proxies, err = upstream.Start(upstreams)
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	b.setting = peer.Setting{Upstreams: b.proxies.Ports(), FDs: fds, Dir: dir}
	return b, nil
}

func (b *bench) close() {
	b.proxies.Close()
	_ = os.RemoveAll(b.dir)
}

// raiseFDs allows as many descriptors as may be, here and in what is started
// from here, and returns how many these are.
func raiseFDs() (int, error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, err
	}
	limit.Cur = limit.Max
	// Go raises its own limit anyway, but children get the old one until this
	// call. More than a million are of no use here.
	return int(min(limit.Max, 1<<20)), syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
}

// spareFDs are for everything but the two descriptors that a tunnel takes, in
// the proxy and here.
const spareFDs = 1000

// idleTunnels is how many of wanted tunnels there can be.
func idleTunnels(wanted, fds int) int { return min(wanted, max((fds-spareFDs)/2, 1)) }

func copyProgram(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("no swivel to measure (make build): %w", err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}

// nobody is the user without privileges, if there is one and this process may
// become it.
func nobody() (as process.As, ok bool) {
	if os.Geteuid() != 0 {
		return as, false
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		return as, false
	}
	uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	if uidErr != nil || gidErr != nil {
		return as, false
	}
	return process.As{UID: uint32(uid), GID: uint32(gid)}, true
}
