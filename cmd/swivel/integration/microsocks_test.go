package integration

import (
	"os/exec"
	"strconv"
	"testing"
)

func startMicrosocks(t testing.TB, _ *authority) peer {
	const address = "127.0.0.24"
	microsocks := installed(t, "microsocks", "microsocks")
	hostPort := startServer(t, "microsocks", address, func(port int) *exec.Cmd {
		return exec.Command(microsocks, "-i", address, "-p", strconv.Itoa(port), "-b", address,
			"-u", peerUser, "-P", peerPassword)
	})
	return peer{name: "microsocks", line: peerURI("socks5", hostPort, peerPassword), source: address}
}
