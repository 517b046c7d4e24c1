package peer

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
	"time"

	"swivel/cmd/swivel-bench/internal/process"
)

// Running is a proxy that serves.
type Running struct {
	*process.Group
	Kind  Kind
	Addr  string // where clients connect
	Admin string // host and port of swivel's admin listener; empty without
	dir   string
}

// Stop ends the proxy and removes its files.
func (r *Running) Stop() error {
	err := r.Group.Stop()
	if removed := os.RemoveAll(r.dir); err == nil {
		err = removed
	}
	return err
}

const (
	// tries is how many ports a proxy may find taken: between the moment a port
	// was found free and the proxy's own bind, anybody can take it.
	tries = 5
	// patience is how long a proxy may take until it listens.
	patience = 20 * time.Second
)

// Start starts a proxy and returns when it accepts connections.
func (k Kind) Start(ctx context.Context, s Setting) (*Running, error) {
	program, err := k.Find()
	if err != nil {
		return nil, err
	}
	for range tries {
		var r *Running
		if r, err = k.try(ctx, program, s); err == nil || ctx.Err() != nil {
			return r, err
		}
	}
	return nil, err
}

func (k Kind) try(ctx context.Context, program string, s Setting) (*Running, error) {
	dir, err := os.MkdirTemp(s.Dir, "proxy-")
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	l := launch{Setting: s, Mode: k.mode, Port: ports[0], Listen: loopback(ports[0]), Manage: "off"}
	r := &Running{Kind: k, Addr: l.Listen, dir: dir}
	if s.Admin {
		r.Admin = loopback(ports[1])
		l.Manage = r.Admin
	}
	cmd, err := k.prepare(program, dir, l)
	if err != nil {
		return nil, err
	}
	if r.Group, err = process.Start(cmd, dir, k.Name, k.As); err != nil {
		return nil, err
	}
	if err := r.listens(ctx); err != nil {
		_ = r.Stop()
		return nil, err
	}
	return r, nil
}

// prepare writes the configuration and makes the command.
func (k Kind) prepare(program, dir string, l launch) (*exec.Cmd, error) {
	file := filepath.Join(dir, k.config)
	text, err := k.render(l)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err == nil {
		err = os.Chmod(dir, 0o755) // for who is not root
	}
	if err == nil && k.As != (process.As{}) {
		err = os.Chown(dir, int(k.As.UID), int(k.As.GID))
	}
	if err != nil {
		return nil, err
	}
	cmd := k.command(program, file, l)
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR="+dir)
	return cmd, nil
}

// render fills the configuration's template in.
func (k Kind) render(l launch) (string, error) {
	t, err := template.ParseFS(configs, "config/"+k.config)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	err = t.Execute(&text, l)
	return text.String(), err
}

// listens waits until the proxy accepts connections.
func (r *Running) listens(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-r.Ended():
			return r.Failure("does not start")
		case <-ctx.Done():
			return r.Failure("does not listen on " + r.Addr)
		case <-look.C:
		}
		if c, err := net.DialTimeout("tcp", r.Addr, time.Second); err == nil {
			return c.Close()
		}
	}
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// freePorts asks the system for ports that are free now.
func freePorts(n int) (ports []int, err error) {
	for range n {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer ln.Close()
		ports = append(ports, ln.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
