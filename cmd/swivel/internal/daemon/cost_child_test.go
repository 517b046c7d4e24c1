package daemon

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/config"
	"swivel/cmd/swivel/internal/eventlog"
	"swivel/cmd/swivel/internal/systemd"
	"swivel/pool"
	"swivel/storage"
	"swivel/storage/storetest"
)

// What the database and a fleet cost is measured on a daemon in a process of its own: the
// test binary, run again. It prints its address, then for every line that it
// reads the processor time it has used, and stops when its input ends.

// costDir tells the child where its list is, costDB where its database, which is
// nowhere when that is empty; costFleet is the address of the fleet's server.
const (
	costDir   = "SWIVEL_TEST_COST_DIR"
	costDB    = "SWIVEL_TEST_COST_DB"
	costFleet = "SWIVEL_TEST_COST_FLEET"
)

// costSubject is a daemon whose cost is measured.
type costSubject struct {
	db    string // file name; "": no database
	fleet string // address; "": no fleet
}

// forgetful is a store that takes everything and keeps nothing.
type forgetful struct{ *storetest.Memory }

func (forgetful) Save(context.Context, []storage.Record) error { return nil }

func forget(context.Context, string, *eventlog.Log) (storage.Store, error) {
	return forgetful{storetest.NewMemory(time.Now)}, nil
}

// costConfig makes breakers that open at the first failure and are tested a
// moment later: as many transitions as there can be.
func costConfig(dir string) config.Config {
	cfg := config.Default()
	cfg.Listen, cfg.Admin, cfg.DB = "127.0.0.1:0", "off", filepath.Join(dir, os.Getenv(costDB))
	cfg.Fleet = pool.Secret(os.Getenv(costFleet))
	cfg.Proxies, cfg.Grace = []string{filepath.Join(dir, "proxies.txt")}, 0
	cfg.Breaker.ConsecutiveFailures, cfg.Breaker.ProbeSuccesses, cfg.Breaker.SlowStart = 1, 1, 0
	cfg.Breaker.OpenTimeout, cfg.Breaker.MaxOpenTimeout = config.Duration(100*time.Millisecond), config.Duration(100*time.Millisecond)
	cfg.Breaker.Window, cfg.Breaker.MinSamples = config.Duration(time.Second), 1000 // on a busy proxy one failure would be chance
	cfg.Restart.ProbeRate = 10_000
	return cfg
}

// costChild is main in the child.
func costChild() error {
	cfg := costConfig(os.Getenv(costDir))
	log, err := eventlog.New(io.Discard, "json", "info") // the lines are made, as always
	if err != nil {
		return err
	}
	lists, err := ReadLists(cfg.Proxies, cfg.BreakerSettings())
	if err != nil {
		return err
	}
	open := openSQLite
	if os.Getenv(costDB) == "" {
		open = forget
	}
	d, err := openWith(context.Background(), cfg, lists, systemd.Sockets{}, log, open)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	fmt.Println(d.Addr())
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var used syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
			return err
		}
		fmt.Println(used.Utime.Nano() + used.Stime.Nano())
	}
	stop()
	return <-ended
}

// costDaemon is the child as its parent sees it.
type costDaemon struct {
	addr string
	in   io.WriteCloser
	out  *bufio.Reader
	done chan error
}

// startCost starts the child with the list in dir.
func startCost(t testing.TB, dir string, s costSubject) *costDaemon {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{costDir + "=" + dir, costDB + "=" + s.db, costFleet + "=" + s.fleet}
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	d := &costDaemon{in: in, out: bufio.NewReader(out), done: make(chan error, 1)}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the signal comes when the thread that started the child ends
		err := cmd.Start()
		started <- err
		if err == nil {
			d.done <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	d.addr = d.line(t)
	return d
}

func (d *costDaemon) line(t testing.TB) string {
	t.Helper()
	text, err := d.out.ReadString('\n')
	if err != nil {
		t.Fatal(errors.Join(err, <-d.done))
	}
	return strings.TrimSpace(text)
}

// used is the processor time that the child has taken since its start.
func (d *costDaemon) used(t testing.TB) time.Duration {
	t.Helper()
	_, _ = io.WriteString(d.in, "?\n")
	n, err := strconv.ParseInt(d.line(t), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(n)
}

func (d *costDaemon) stop(t testing.TB) {
	t.Helper()
	_ = d.in.Close()
	if err := <-d.done; err != nil {
		t.Errorf("the daemon ended with: %v", err)
	}
}
