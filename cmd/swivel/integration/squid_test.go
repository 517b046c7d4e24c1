package integration

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// squidConfig caches nothing and asks everyone for a password, which a program
// of its own checks; who made requests is logged. The effective
// user counts only when root starts it, who must not go on as root.
const squidConfig = `
http_port %[1]s
auth_param basic program /usr/lib/squid/%[5]s
auth_param basic children 2 startup=1 idle=1
auth_param basic realm upstream
acl known proxy_auth REQUIRED
http_access allow known
http_access deny all
tcp_outgoing_address %[3]s
cache deny all
cache_mem 8 MB
visible_hostname squid.test
pid_filename %[2]s/squid.pid
logformat who %%un %%rm
access_log stdio:%[2]s/access.log who
cache_log %[2]s/cache.log
coredump_dir %[2]s
cache_effective_user %[4]s
shutdown_lifetime 1 second
pinger_enable off
max_filedescriptors 1024
`

func startSquid(t testing.TB, _ *authority) peer {
	const address = "127.0.0.21"
	hostPort, _ := runSquid(t, address, func(dir string) string {
		writeFile(t, filepath.Join(dir, "passwords"), peerUser+":"+hashed(t, peerPassword)+"\n", 0o644)
		return "basic_ncsa_auth " + dir + "/passwords"
	})
	return peer{name: "squid", line: peerURI("http", hostPort, peerPassword), source: address}
}

// runSquid starts a squid and returns where it listens and its folder. passwords
// prepares the folder and returns the program that checks them.
func runSquid(t testing.TB, address string, passwords func(dir string) string) (hostPort, dir string) {
	squid := installed(t, "squid", "squid")
	owner := squidUser(t)
	hostPort = startServer(t, "squid", address, func(port int) *exec.Cmd {
		dir = scratch(t)
		config := filepath.Join(dir, "squid.conf")
		writeFile(t, config, fmt.Sprintf(squidConfig, fmt.Sprintf("%s:%d", address, port), dir, address, owner.Username, passwords(dir)), 0o644)
		chown(t, dir, owner)
		// The service name keeps its shared memory apart from the system's squid.
		return exec.Command(squid, "-N", "-n", "swivel"+strconv.Itoa(port), "-f", config)
	})
	return hostPort, dir
}

// hashed is the password as Apache's password files hold it.
func hashed(t testing.TB, password string) string {
	t.Helper()
	out, err := exec.Command(installed(t, "openssl", "openssl"), "passwd", "-apr1", password).Output()
	if err != nil {
		t.Fatalf("openssl passwd: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// squidUser is whom squid runs as: Debian's user for proxies when root starts
// it, else whoever runs the test.
func squidUser(t testing.TB) *user.User {
	t.Helper()
	if os.Geteuid() != 0 {
		return currentUser(t)
	}
	owner, err := user.Lookup("proxy")
	if err != nil {
		t.Fatal(err)
	}
	return owner
}

func currentUser(t testing.TB) *user.User {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// chown gives a folder away; only root can, and only root has to.
func chown(t testing.TB, dir string, to *user.User) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	uid, err := strconv.Atoi(to.Uid)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, uid, -1); err != nil {
		t.Fatal(err)
	}
}
