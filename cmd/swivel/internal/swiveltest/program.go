// Package swiveltest runs the built swivel for tests, as its users do: as a
// process of its own, which is asked over its ports, by signals, and by what it
// writes. The peers between which it stands are started by the same means.
//
// All that is started ends with its test at the latest, also when that panics or
// runs out of time, and only by its own number. Everything is on loopback, on
// ports that the system gives. Linux only. The package is for tests, and of swivel
// it knows only what can be seen from outside:
//
//	func TestMain(m *testing.M) { os.Exit(swiveltest.Run(m)) }
//
//	d := swiveltest.Serve(t, swiveltest.Setup{Lines: []string{"127.0.0.1:3128"}})
//	client(d.Listen)
//	d.Signal(t, syscall.SIGHUP)
//	swiveltest.Eventually(t, time.Second, "it reloads", func() bool { return len(d.Lines(t, "reloaded")) > 0 })
package swiveltest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Run runs the tests of a package, removes what Program has built for them, and
// returns the exit code. It is for TestMain.
func Run(m *testing.M) int {
	code := m.Run()
	if binDir != "" {
		_ = os.RemoveAll(binDir)
	}
	return code
}

// binDir is where the program was built; empty as long as no test needed it.
var binDir string

// Program returns the path of the built swivel, which every user may run. It is
// built once for all tests of a package, with the race detector when they have it:
// what a daemon prints then is checked when it ends.
func Program(t testing.TB) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatalf("cannot build swivel: %v", err)
	}
	return path
}

var build = sync.OnceValues(func() (string, error) {
	var err error
	if binDir, err = os.MkdirTemp("", "swivel-test-"); err != nil {
		return "", err
	}
	if err := os.Chmod(binDir, 0o755); err != nil {
		return "", err
	}
	program := filepath.Join(binDir, "swivel")
	// Without the commit: git refuses to tell it when another user owns the checkout.
	args := []string{"build", "-buildvcs=false", "-o", program}
	if RaceDetector {
		args = append(args, "-race")
	}
	out, err := exec.Command("go", append(args, "swivel/cmd/swivel")...).CombinedOutput()
	if err != nil {
		return "", errors.Join(err, errors.New(string(out)))
	}
	return program, nil
})

// PlainEnv is an environment without what could change the course of a program:
// proxy variables, SWIVEL_*. The race detector would delay the end of every
// process by a second.
func PlainEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir(), "LANG=C.UTF-8", "GORACE=atexit_sleep_ms=50"}
}
