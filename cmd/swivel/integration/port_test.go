package integration

import (
	"net"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// portTries is how many ports a server may find taken: between the moment a
// port was found free and the server's own bind, anybody can take it.
const portTries = 5

// freePort asks the system for a port that is free on the address now.
func freePort(t testing.TB, address string) int {
	t.Helper()
	ln, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port
}

// startServer starts a program that listens on a port of the address, and
// returns once it does. command makes the program's command for a port.
func startServer(t testing.TB, name, address string, command func(port int) *exec.Cmd) (hostPort string) {
	t.Helper()
	for range portTries {
		port := freePort(t, address)
		hostPort = net.JoinHostPort(address, strconv.Itoa(port))
		c := swiveltest.Start(t, name, command(port))
		if listensOn(t, c, name, hostPort) {
			return hostPort
		}
		t.Logf("%s did not start on %s:\n%s", name, hostPort, c.Output(t))
	}
	t.Fatalf("%s did not start on any of %d ports", name, portTries)
	return ""
}

// listensOn waits until the child accepts connections; false when it ended.
func listensOn(t testing.TB, c *swiveltest.Child, name, hostPort string) bool {
	t.Helper()
	swiveltest.Eventually(t, 20*time.Second, name+" listens on "+hostPort, func() bool {
		return !c.Running() || accepts(hostPort)
	})
	return c.Running()
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
