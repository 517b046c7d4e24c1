package swiveltest

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Child is a process that a test started, with all that it starts in turn. It
// ends with the test at the latest. Its methods may be called from several
// goroutines, but those that can fail the test at once.
type Child struct {
	name  string
	cmd   *exec.Cmd
	log   string        // file with its standard output and error
	ended chan struct{} // closed once it was waited for
	over  sync.Once     // its group was ended
}

// Start runs cmd in a process group of its own. Its output goes to a file, which
// is shown when the test fails.
func Start(t testing.TB, name string, cmd *exec.Cmd) *Child {
	t.Helper()
	return start(t, name, cmd, t.TempDir(), nil)
}

// start has the thread enter first where the process is to run, if need be.
func start(t testing.TB, name string, cmd *exec.Cmd, logs string, enter func() error) *Child {
	t.Helper()
	out, err := os.CreateTemp(logs, name+"-*.log")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	c := &Child{name: name, cmd: cmd, log: out.Name(), ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = out, out
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Pdeathsig = true, syscall.SIGKILL
	started := make(chan error)
	go c.run(enter, started)
	if err := <-started; err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	t.Cleanup(func() {
		c.end(t)
		if t.Failed() {
			t.Logf("output of %s:\n%s", name, shown(c.Output(t)))
		}
	})
	return c
}

// run starts the process and waits for it on one thread: the kernel sends the
// parent-death signal when the thread that started a process ends, not when
// the whole program does. With that signal a test that panics or runs out of
// time leaves no process behind. The process is in the namespaces of the thread.
func (c *Child) run(enter func() error, started chan<- error) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	var err error
	if enter != nil {
		err = enter()
	}
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

// PID is the number of the process.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Ended is closed when the process has ended.
func (c *Child) Ended() <-chan struct{} { return c.ended }

// Running says whether the process has yet to end.
func (c *Child) Running() bool {
	select {
	case <-c.ended:
		return false
	default:
		return true
	}
}

// EndsWithin waits for the end, and says whether it came in time.
func (c *Child) EndsWithin(limit time.Duration) bool {
	select {
	case <-c.ended:
		return true
	case <-time.After(limit):
		return false
	}
}

// Wait waits for the end and returns the exit code (-1 for death by a signal). It
// fails the test when that takes longer than limit.
func (c *Child) Wait(t testing.TB, limit time.Duration) int {
	t.Helper()
	if !c.EndsWithin(limit) {
		t.Fatalf("%s (process %d) is still running after %v", c.name, c.PID(), limit)
	}
	return c.cmd.ProcessState.ExitCode()
}

// Signal sends to the process alone, as an operator would.
func (c *Child) Signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		t.Fatalf("%s: %v: %v", c.name, s, err)
	}
}

// Kill is kill -9, and waits for the end. One that has ended is left alone.
func (c *Child) Kill(t testing.TB) {
	t.Helper()
	_ = c.cmd.Process.Kill()
	if !c.EndsWithin(10 * time.Second) {
		t.Fatalf("%s (process %d) cannot be killed", c.name, c.PID())
	}
}

// stopWithin is longer than swivel's default grace, and than what comes behind it.
const stopWithin = 25 * time.Second

// Stop asks the process to end, and returns its exit code. One that does not stop
// is killed, and fails the test.
func (c *Child) Stop(t testing.TB) int {
	t.Helper()
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	if !c.EndsWithin(stopWithin) {
		t.Errorf("%s (process %d) does not stop", c.name, c.PID())
		c.Kill(t)
	}
	return c.cmd.ProcessState.ExitCode()
}

// end ends the group: politely, then not. The second signal goes out in any
// case, for helpers that outlive the process that started them.
func (c *Child) end(t testing.TB) {
	c.over.Do(func() {
		if c.Running() {
			_ = syscall.Kill(-c.PID(), syscall.SIGTERM)
			c.EndsWithin(5 * time.Second)
		}
		_ = syscall.Kill(-c.PID(), syscall.SIGKILL)
		if !c.EndsWithin(5 * time.Second) {
			t.Errorf("%s (process %d) cannot be killed", c.name, c.PID())
		}
	})
}

// LogFile is where what the process prints goes.
func (c *Child) LogFile() string { return c.log }

// Output is what the process has printed so far.
func (c *Child) Output(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(c.log)
	if err != nil {
		t.Errorf("%s: %v", c.name, err)
	}
	return string(text)
}

// Files is how many descriptors the process has.
func (c *Child) Files(t testing.TB) int {
	t.Helper()
	names, err := os.ReadDir("/proc/" + strconv.Itoa(c.PID()) + "/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}
