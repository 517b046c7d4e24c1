package integration

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
)

const tinyproxyConfig = `
Listen %[1]s
Port %[2]d
Bind %[1]s
Timeout 60
MaxClients 100
Allow 127.0.0.0/8
LogLevel Info
`

func startTinyproxy(t testing.TB, _ *authority) peer {
	const address = "127.0.0.22"
	return peer{name: "tinyproxy", line: "http://" + runTinyproxy(t, address), source: address}
}

// runTinyproxy starts one that listens on and leaves from the address.
func runTinyproxy(t testing.TB, address string) (hostPort string) {
	t.Helper()
	tinyproxy := installed(t, "tinyproxy", "tinyproxy")
	return startServer(t, "tinyproxy", address, func(port int) *exec.Cmd {
		config := filepath.Join(scratch(t), "tinyproxy.conf")
		writeFile(t, config, fmt.Sprintf(tinyproxyConfig, address, port), 0o644)
		return exec.Command(tinyproxy, "-d", "-c", config)
	})
}
