package faults

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

var long = flag.Bool("faults.long", false, "run the long form")

// either chooses between the forms.
func either[T any](short, longer T) T {
	if *long {
		return longer
	}
	return short
}

func TestMain(m *testing.M) {
	flag.Parse()
	// Most of the time goes by in waiting: for rests, locks and time-outs.
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	code := m.Run()
	if binDir != "" {
		_ = os.RemoveAll(binDir)
	}
	if *long || testing.Verbose() || code != 0 {
		figures.print(os.Stdout)
	}
	os.Exit(code)
}

// binDir is where the program was built; empty as long as no test needed it.
var binDir string

// swivelBinary builds the program once, with the race detector when the tests
// have it: what the daemon prints then is checked when it ends. Everybody may run
// it, also who is not root.
var swivelBinary = sync.OnceValues(func() (string, error) {
	var err error
	if binDir, err = os.MkdirTemp("", "swivel-faults-"); err != nil {
		return "", err
	}
	if err := os.Chmod(binDir, 0o755); err != nil {
		return "", err
	}
	program := filepath.Join(binDir, "swivel")
	// Without the commit: git refuses to tell it when another user owns the checkout.
	args := []string{"build", "-buildvcs=false", "-o", program}
	if raceDetector {
		args = append(args, "-race")
	}
	out, err := exec.Command("go", append(args, "swivel/cmd/swivel")...).CombinedOutput()
	if err != nil {
		return "", errors.Join(err, errors.New(string(out)))
	}
	return program, nil
})

func program(t *testing.T) string {
	t.Helper()
	path, err := swivelBinary()
	if err != nil {
		t.Fatalf("cannot build swivel: %v", err)
	}
	return path
}
