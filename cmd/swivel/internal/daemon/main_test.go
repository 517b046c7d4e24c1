package daemon

import (
	"fmt"
	"os"
	"testing"
)

// TestMain runs a daemon instead of tests in the process that measureCost starts.
func TestMain(m *testing.M) {
	if os.Getenv(costDir) != "" {
		if err := costChild(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}
