package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// child is a process that a test started, with all that it starts in turn. It
// ends with the test at the latest.
type child struct {
	name  string
	cmd   *exec.Cmd
	log   string        // file with its standard output and error
	ended chan struct{} // closed once it was waited for
}

// start runs cmd in a process group of its own. Its output goes to a file,
// which is shown when the test fails.
func start(t testing.TB, name string, cmd *exec.Cmd) *child {
	t.Helper()
	c := &child{name: name, cmd: cmd, log: filepath.Join(t.TempDir(), name+".log"), ended: make(chan struct{})}
	out, err := os.Create(c.log)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go c.run(started)
	if err := <-started; err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	t.Cleanup(func() {
		c.stop(t)
		if t.Failed() {
			t.Logf("output of %s:\n%s", name, c.output(t))
		}
	})
	return c
}

// run starts the process and waits for it on one thread: the kernel sends the
// parent-death signal when the thread that started a process ends, not when
// the whole program does. With that signal a test that panics or runs out of
// time leaves no process behind.
func (c *child) run(started chan<- error) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	err := c.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = c.cmd.Wait()
	close(c.ended)
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// signal sends to the process alone, as an operator would.
func (c *child) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		t.Fatalf("%s: %v: %v", c.name, s, err)
	}
}

// kill is kill -9, and waits for the end.
func (c *child) kill(t testing.TB) {
	t.Helper()
	c.signal(t, syscall.SIGKILL)
	c.wait(t, 10*time.Second)
}

// wait returns the exit code (-1 for death by a signal).
func (c *child) wait(t testing.TB, limit time.Duration) int {
	t.Helper()
	select {
	case <-c.ended:
	case <-time.After(limit):
		t.Fatalf("%s is still running after %v", c.name, limit)
	}
	return c.cmd.ProcessState.ExitCode()
}

func (c *child) running() bool {
	select {
	case <-c.ended:
		return false
	default:
		return true
	}
}

// stop ends the group: politely, then not. The second signal goes out in any
// case, for helpers that outlive the process that started them.
func (c *child) stop(t testing.TB) {
	if c.running() {
		_ = syscall.Kill(-c.pid(), syscall.SIGTERM)
		select {
		case <-c.ended:
		case <-time.After(5 * time.Second):
		}
	}
	_ = syscall.Kill(-c.pid(), syscall.SIGKILL)
	select {
	case <-c.ended:
	case <-time.After(5 * time.Second):
		t.Errorf("%s cannot be killed", c.name)
	}
}

func (c *child) output(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(c.log)
	if err != nil {
		t.Errorf("%s: %v", c.name, err)
	}
	return string(text)
}
