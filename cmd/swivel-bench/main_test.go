package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if binDir != "" {
		_ = os.RemoveAll(binDir)
	}
	os.Exit(code)
}

// binDir is where swivel was built; empty as long as no test needed it.
var binDir string

var swivelBinary = sync.OnceValues(func() (string, error) {
	var err error
	if binDir, err = os.MkdirTemp("", "swivel-bench-test-"); err != nil {
		return "", err
	}
	program := filepath.Join(binDir, "swivel")
	// Without the commit: git refuses to tell it when another user owns the checkout.
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, "swivel/cmd/swivel").CombinedOutput()
	if err != nil {
		return "", errors.Join(err, errors.New(string(out)))
	}
	return program, nil
})

// runBench runs the program on a built swivel.
func runBench(t *testing.T, ctx context.Context, args ...string) (code int, out, errOut string) {
	t.Helper()
	program, err := swivelBinary()
	if err != nil {
		t.Fatalf("cannot build swivel: %v", err)
	}
	var o, e strings.Builder
	code = run(ctx, append(args, "--swivel", program), &o, &e)
	return code, o.String(), e.String()
}
