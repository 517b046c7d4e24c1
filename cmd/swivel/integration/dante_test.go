package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// danteConfig speaks one version of SOCKS and asks for no password.
const danteConfig = `
logoutput: stdout
internal: %[1]s port = %[2]d
external: %[1]s
clientmethod: none
socksmethod: none
user.privileged: %[3]s
user.unprivileged: %[4]s
client pass { from: 127.0.0.0/8 to: 0.0.0.0/0 }
socks pass { from: 127.0.0.0/8 to: 0.0.0.0/0 proxyprotocol: %[5]s }
`

func startDante4(t testing.TB, _ *authority) peer {
	const address = "127.0.0.25"
	return peer{name: "socks4", line: "socks4://" + runDante(t, address, "socks_v4"), source: address}
}

func startDante5(t testing.TB, _ *authority) peer {
	const address = "127.0.0.26"
	return peer{name: "socks5", line: "socks5://" + runDante(t, address, "socks_v5"), source: address}
}

// runDante starts one that listens on and leaves from the address.
func runDante(t testing.TB, address, protocol string) (hostPort string) {
	t.Helper()
	danted := installed(t, "danted", "dante-server")
	privileged := currentUser(t).Username
	unprivileged := privileged
	if os.Geteuid() == 0 {
		unprivileged = "nobody"
	}
	return startServer(t, "dante-"+protocol, address, func(port int) *exec.Cmd {
		dir := scratch(t)
		config := filepath.Join(dir, "danted.conf")
		writeFile(t, config, fmt.Sprintf(danteConfig, address, port, privileged, unprivileged, protocol), 0o644)
		return exec.Command(danted, "-f", config, "-p", filepath.Join(dir, "danted.pid"))
	})
}
