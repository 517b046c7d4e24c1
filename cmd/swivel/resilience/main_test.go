package resilience

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

var (
	long = flag.Bool("resilience.long", false, "run the long form, with the default rests")
	logs = flag.String("resilience.logs", "", "an existing `folder` to keep the logs of the daemons in")
)

func TestMain(m *testing.M) {
	code := m.Run()
	if binDir != "" {
		_ = os.RemoveAll(binDir)
	}
	os.Exit(code)
}

// binDir is where the program was built; empty as long as no test needed it.
var binDir string

// swivelBinary builds the program once, with the race detector when the tests
// have it: what the daemon prints then is checked when it ends.
var swivelBinary = sync.OnceValues(func() (string, error) {
	var err error
	if binDir, err = os.MkdirTemp("", "swivel-resilience-"); err != nil {
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
