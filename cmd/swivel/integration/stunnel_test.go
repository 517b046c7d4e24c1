package integration

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
)

const stunnelConfig = `
foreground = yes
pid =
debug = 4
socket = l:TCP_NODELAY=1
socket = r:TCP_NODELAY=1
[proxy]
accept = %s
connect = %s
cert = %s
`

// startTLSProxy starts a proxy that is spoken to over TLS: a stunnel that
// hands on to a tinyproxy of its own.
func startTLSProxy(t testing.TB, ca *authority) peer {
	const address = "127.0.0.23"
	stunnel := installed(t, "stunnel4", "stunnel4")
	inner := runTinyproxy(t, address)
	certPEM, keyPEM := ca.issue(t, address)
	hostPort := startServer(t, "stunnel", address, func(port int) *exec.Cmd {
		dir := scratch(t)
		pair := filepath.Join(dir, "server.pem")
		writeFile(t, pair, string(certPEM)+string(keyPEM), 0o600)
		config := filepath.Join(dir, "stunnel.conf")
		writeFile(t, config, fmt.Sprintf(stunnelConfig, fmt.Sprintf("%s:%d", address, port), inner, pair), 0o644)
		return exec.Command(stunnel, config)
	})
	return peer{name: "tls", line: "https://" + hostPort + " ca=" + ca.file, source: address}
}
