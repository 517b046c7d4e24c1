package integration

import (
	"net"
	"os/exec"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
	"swivel/pool/upstream/listentest"
)

// startServer starts a program that listens on a port of the address, and
// returns once it does. command makes the program's command for a port.
func startServer(t testing.TB, name, address string, command func(port int) *exec.Cmd) (hostPort string) {
	t.Helper()
	at := listentest.Reserved(t, address)
	hostPort = at.String()
	c := swiveltest.Start(t, name, command(int(at.Port())))
	swiveltest.Eventually(t, 20*time.Second, name+" listens on "+hostPort, func() bool {
		return !c.Running() || accepts(hostPort)
	})
	if !c.Running() {
		t.Fatalf("%s did not start on %s:\n%s", name, hostPort, c.Output(t))
	}
	return hostPort
}

// accepts says whether somebody listens there.
func accepts(hostPort string) bool {
	conn, err := net.DialTimeout("tcp", hostPort, time.Second)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
