package resilience

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// child is a process that the test started. It ends with the test at the
// latest.
type child struct {
	cmd   *exec.Cmd
	log   string        // file with its standard output and error
	ended chan struct{} // closed once it was waited for
}

// start runs cmd with its output going to a file.
func start(t *testing.T, cmd *exec.Cmd) *child {
	t.Helper()
	dir := *logs
	if dir == "" {
		dir = t.TempDir()
	}
	out, err := os.CreateTemp(dir, "swivel-*.log")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	c := &child{cmd: cmd, log: out.Name(), ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go c.run(started)
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.stop(t) })
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

// kill is kill -9, and waits for the end.
func (c *child) kill(t *testing.T) {
	t.Helper()
	_ = c.cmd.Process.Kill()
	if !c.endsWithin(10 * time.Second) {
		t.Fatalf("process %d cannot be killed", c.cmd.Process.Pid)
	}
}

// stop ends the process politely, then not.
func (c *child) stop(t *testing.T) {
	t.Helper()
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	if !c.endsWithin(20 * time.Second) {
		t.Errorf("process %d does not stop", c.cmd.Process.Pid)
		c.kill(t)
	}
}

func (c *child) endsWithin(limit time.Duration) bool {
	select {
	case <-c.ended:
		return true
	case <-time.After(limit):
		return false
	}
}

func (c *child) running() bool {
	select {
	case <-c.ended:
		return false
	default:
		return true
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
