package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// child is a process that a test started. It ends with the test at the latest.
type child struct {
	cmd   *exec.Cmd
	log   string        // file with its standard output and error
	ended chan struct{} // closed once it was waited for
}

// start runs cmd with its output going to a file, which is shown when the test
// fails; in a network of its own if one is given.
func start(t *testing.T, cmd *exec.Cmd, in *network) *child {
	t.Helper()
	c := &child{cmd: cmd, log: filepath.Join(t.TempDir(), "log"), ended: make(chan struct{})}
	out, err := os.Create(c.log)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Pdeathsig = true, syscall.SIGKILL
	started := make(chan error)
	go c.run(in, started)
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.stop(t) })
	return c
}

// run starts the process and waits for it on one thread: the kernel sends the
// parent-death signal when the thread that started a process ends, not when the
// whole program does. The process is in the network that its thread is in.
func (c *child) run(in *network, started chan<- error) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	err := in.enter()
	if err == nil {
		err = c.cmd.Start()
	}
	started <- err
	if err != nil {
		return
	}
	_ = c.cmd.Wait()
	close(c.ended)
}

func (c *child) pid() int { return c.cmd.Process.Pid }

func (c *child) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		t.Fatalf("%v: %v", s, err)
	}
}

// kill is kill -9, and waits for the end.
func (c *child) kill(t *testing.T) {
	t.Helper()
	_ = c.cmd.Process.Kill()
	if !c.endsWithin(10 * time.Second) {
		t.Fatalf("process %d cannot be killed", c.pid())
	}
}

// stop ends the process politely, then not, and returns its exit code.
func (c *child) stop(t *testing.T) int {
	t.Helper()
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	if !c.endsWithin(25 * time.Second) {
		t.Errorf("process %d does not stop", c.pid())
		c.kill(t)
	}
	return c.cmd.ProcessState.ExitCode()
}

func (c *child) endsWithin(limit time.Duration) bool {
	select {
	case <-c.ended:
		return true
	case <-time.After(limit):
		return false
	}
}

func (c *child) output(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(c.log)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// files is how many descriptors the process has.
func (c *child) files(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/" + strconv.Itoa(c.pid()) + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// eventually asks until the answer is yes, and fails the test when that takes
// longer than limit.
func eventually(t *testing.T, limit time.Duration, what string, yes func() bool) {
	t.Helper()
	deadline := time.After(limit)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !yes() {
		select {
		case <-deadline:
			t.Fatalf("waited %v in vain: %s", limit, what)
		case <-again.C:
		}
	}
}

// pass lets time go by, of which something else makes use.
func pass(d time.Duration) { <-time.After(d) }
