package daemon

import (
	"fmt"
	"net"
	"os"
	"testing"
)

// TestMain uses the network once before any test counts descriptors: the
// runtime opens two of its own the first time. In the process that
// measureCost starts it runs a daemon instead.
func TestMain(m *testing.M) {
	if os.Getenv(costDir) != "" {
		if err := costChild(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		_ = l.Close()
	}
	os.Exit(m.Run())
}
