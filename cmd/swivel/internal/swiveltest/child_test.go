package swiveltest

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) { os.Exit(Run(m)) }

// TestHelpersEndWithTheTest: the helper ignores the polite signal, and its parent
// does not wait for it.
func TestHelpersEndWithTheTest(t *testing.T) {
	var helper int
	t.Run("inner", func(t *testing.T) {
		c := Start(t, "shell", exec.Command("sh", "-c", "(trap '' TERM; echo ready; while :; do sleep 1; done) & echo $!; wait"))
		Eventually(t, 10*time.Second, "both are there", func() bool { return strings.Count(c.Output(t), "\n") == 2 })
		for word := range strings.FieldsSeq(c.Output(t)) {
			if n, err := strconv.Atoi(word); err == nil {
				helper = n
			}
		}
		if err := syscall.Kill(helper, 0); err != nil {
			t.Fatalf("no helper %d: %v", helper, err)
		}
	})
	Eventually(t, 10*time.Second, "the helper is gone", func() bool { return !alive(helper) })
}

// alive is false for a zombie, too, which waits for somebody to ask for its end.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestStopReturnsTheExitCode(t *testing.T) {
	c := Start(t, "shell", exec.Command("sh", "-c", "trap 'exit 3' TERM; echo ready; while :; do sleep .01; done"))
	Eventually(t, 10*time.Second, "it is ready", func() bool { return c.Output(t) == "ready\n" })
	if !c.Running() || c.Files(t) < 3 {
		t.Errorf("running: %v, with %d descriptors", c.Running(), c.Files(t))
	}
	if code := c.Stop(t); code != 3 || c.Running() {
		t.Errorf("exit code %d, running: %v", code, c.Running())
	}
}
