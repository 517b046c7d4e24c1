package forward_test

import (
	"net"
	"os"
	"testing"
)

// TestMain uses the network once before any test counts descriptors: the
// runtime opens two of its own the first time.
func TestMain(m *testing.M) {
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		_ = l.Close()
	}
	os.Exit(m.Run())
}
