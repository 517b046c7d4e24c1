// Package process runs a program in a process group of its own, and reads from
// /proc what the whole group uses, so that a proxy's helpers count as the proxy.
//
// A group ends with the benchmark at the latest. All functions may be called
// from several goroutines. Linux only.
package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Group is a program that was started, with all that it has started itself.
type Group struct {
	id    int // of the group, and of its first process
	name  string
	log   string        // file with what it has printed
	ended chan struct{} // closed once the first process was waited for
	err   error         // what Wait said; read after ended
}

// As is the user that a program runs as. Zero: the caller's own.
type As struct{ UID, GID uint32 }

// Start runs cmd with its output going to a file in dir, which is called like the
// program and is emptied first.
func Start(cmd *exec.Cmd, dir, name string, as As) (*Group, error) {
	log, err := os.OpenFile(filepath.Join(dir, name+".log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	g := &Group{name: name, log: log.Name(), ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if as != (As{}) {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: as.UID, Gid: as.GID}
	}
	started := make(chan error)
	go g.run(cmd, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return g, nil
}

// run starts the process and waits for it on one thread: the kernel sends the
// parent-death signal when the thread that started a process ends, not when the
// whole program does.
func (g *Group) run(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	err := cmd.Start()
	if err == nil {
		g.id = cmd.Process.Pid
	}
	started <- err
	if err != nil {
		return
	}
	g.err = cmd.Wait()
	close(g.ended)
}

// Ended is closed when the program has ended.
func (g *Group) Ended() <-chan struct{} { return g.ended }

// grace is how long a program may take to end when it is asked to.
const grace = 5 * time.Second

// Stop ends the group politely, then not.
func (g *Group) Stop() error {
	_ = syscall.Kill(-g.id, syscall.SIGTERM)
	select {
	case <-g.ended:
	case <-time.After(grace):
	}
	// What is left of the group, if only helpers that outlive their parent.
	_ = syscall.Kill(-g.id, syscall.SIGKILL)
	select {
	case <-g.ended:
		return nil
	case <-time.After(grace):
		return fmt.Errorf("process %d (%s) cannot be ended", g.id, g.name)
	}
}

// shown is how much of its output is shown of a program that failed.
const shown = 2000

// Failure is an error with how the program ended, if it has, and the end of what
// it has printed.
func (g *Group) Failure(what string) error {
	text, err := os.ReadFile(g.log)
	if err != nil {
		text = []byte(err.Error())
	}
	if len(text) > shown {
		text = text[len(text)-shown:]
	}
	failure := fmt.Errorf("%s %s", g.name, what)
	select {
	case <-g.ended:
		failure = errors.Join(failure, fmt.Errorf("it has ended: %v", g.err))
	default:
	}
	if printed := strings.TrimSpace(string(text)); printed != "" {
		failure = errors.Join(failure, fmt.Errorf("it printed last:\n%s", printed))
	}
	return failure
}

// LogFile is where what the program prints goes.
func (g *Group) LogFile() string { return g.log }
