// Package peer knows the proxies that are measured: swivel and those it is
// compared with, how each is configured to send everything through the same
// upstream proxies, and how it is started.
//
// Each runs as it comes, with as many threads as it wants, and keeps no cache.
// swivel writes its line per request and its database; the others write no log.
package peer

import (
	"cmp"
	"embed"
	"fmt"
	"os/exec"
	"strings"

	"swivel/cmd/swivel-bench/internal/process"
)

//go:embed config
var configs embed.FS

// Kind is a proxy that can be measured.
type Kind struct {
	Name    string // in tables
	Program string // a name in the path, which is also that of its Debian package, or a file
	As      process.As
	config  string // a template in configs, filled in with a launch
	mode    string // for haproxy.cfg
	version string // the argument that makes it say its version
	command func(program, config string, l launch) *exec.Cmd
}

// Setting is what a proxy is started with.
type Setting struct {
	Upstreams   []int    // ports on the loopback; the proxy may use all alike
	Connections int      // how many clients it has to bear at once
	FDs         int      // how many descriptors it may have
	Dir         string   // for its files; everybody may enter it, and Start makes a folder in it
	Admin       bool     // swivel only: with its admin listener
	List        string   // swivel only: a list in place of Upstreams
	Env         []string // swivel only: further settings
}

// launch is what one start of a proxy adds to its setting.
type launch struct {
	Setting
	Mode   string
	Port   int    // on the loopback, for clients
	Listen string // the same as host and port
	Manage string // host and port of the admin listener, or off
}

// The kinds.
const (
	HAProxyTCP  = "haproxy (tcp)"
	HAProxyHTTP = "haproxy (http)"
	Squid       = "squid"
	Tinyproxy   = "tinyproxy"
)

// Swivel is the program under test, run as a user of its own if as is not zero.
func Swivel(name, program string, as process.As) Kind {
	return Kind{Name: name, Program: program, As: as, config: "swivel.txt", version: "version",
		command: func(program, list string, l launch) *exec.Cmd {
			cmd := exec.Command(program, "serve", "--proxies", cmp.Or(l.List, list), "--listen", l.Listen, "--admin", l.Manage, "--db", "swivel.db")
			cmd.Env = append([]string{fmt.Sprintf("SWIVEL_LIMITS_CONNECTIONS=%d", l.Connections)}, l.Env...)
			return cmd
		}}
}

// Others are the proxies that swivel is compared with. Squid runs as a user of
// its own if as is not zero: it does so anyway when root starts it, but a process
// that has changed its user by itself does not end with a parent that is killed.
func Others(as process.As) []Kind {
	haproxy := func(program, config string, _ launch) *exec.Cmd { return exec.Command(program, "-db", "-f", config) }
	squid := func(program, config string, l launch) *exec.Cmd {
		// Under its usual name it would share memory with any other squid here.
		return exec.Command(program, "-N", "-n", fmt.Sprintf("bench%d", l.Port), "-f", config)
	}
	tinyproxy := func(program, config string, _ launch) *exec.Cmd { return exec.Command(program, "-d", "-c", config) }
	return []Kind{
		{Name: HAProxyTCP, Program: "haproxy", config: "haproxy.cfg", mode: "tcp", version: "-v", command: haproxy},
		{Name: HAProxyHTTP, Program: "haproxy", config: "haproxy.cfg", mode: "http", version: "-v", command: haproxy},
		{Name: Squid, Program: "squid", As: as, config: "squid.conf", version: "-v", command: squid},
		{Name: Tinyproxy, Program: "tinyproxy", config: "tinyproxy.conf", version: "-v", command: tinyproxy},
	}
}

// sbin is where Debian keeps daemons, which is not in every user's PATH.
const sbin = "/usr/sbin/"

// Find looks for the program of a kind, and says what to do if it is not there.
func (k Kind) Find() (path string, err error) {
	if path, err = exec.LookPath(k.Program); err == nil {
		return path, nil
	}
	if strings.Contains(k.Program, "/") {
		return "", err
	}
	if path, err = exec.LookPath(sbin + k.Program); err != nil {
		return "", fmt.Errorf("not installed: apt-get install -y --no-install-recommends %s", k.Program)
	}
	return path, nil
}

// Version is what the program calls itself, in one line.
func (k Kind) Version() string {
	path, err := k.Find()
	if err != nil {
		return k.Name
	}
	out, err := exec.Command(path, k.version).Output()
	line, _, _ := strings.Cut(string(out), "\n")
	if line = strings.TrimSpace(line); err != nil || line == "" {
		return k.Name
	}
	return line
}
