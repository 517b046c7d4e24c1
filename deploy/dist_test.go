// Package deploy has no code: what is tested here is what operators install.
package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"swivel/pool/upstream/listentest"
)

const version = "1.2.3-test"

// unpacked makes the archive for this machine, and unpacks it.
func unpacked(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	dist := exec.Command("make", "-C", "..", "dist", "VERSION="+version, "ARCHS="+runtime.GOARCH, "DIST="+dir)
	dist.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000", "MAKEFLAGS=")
	if out, err := dist.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	name := "swivel-" + version + "-linux-" + runtime.GOARCH
	shell(t, dir, `sha256sum -c SHA256SUMS && tar -xzf "$0".tar.gz`, name)
	return filepath.Join(dir, name)
}

func shell(t *testing.T, dir, script string, args ...string) {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-ec", script}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// image is a folder with what the container has: the program, its configuration,
// and a place for the database. Root can run it as the container does.
type image struct {
	root, admin string
	jailed      bool
}

func newImage(t *testing.T, program string) image {
	t.Helper()
	root, err := os.MkdirTemp("", "image") // not everybody can pass through a test's own folder
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	i := image{root: root, admin: listentest.Reserved(t, "127.0.0.1").String(), jailed: os.Getuid() == 0}
	shell(t, ".", `chmod 755 "$0"; mkdir -p "$0"/usr/bin "$0"/etc/swivel "$0"/var/lib/swivel; cp "$1" "$0"/usr/bin/
		cp swivel.yaml "$0"/etc/swivel/; echo 127.0.0.1:1 >"$0"/etc/swivel/proxies.txt
		[ "$(id -u)" != 0 ] || chown 10001:10001 "$0"/var/lib/swivel`, root, program)
	return i
}

// path is a file of the image, as its programs see it.
func (i image) path(name string) string {
	if i.jailed {
		return name
	}
	return filepath.Join(i.root, name)
}

// command is what the container runs.
func (i image) command(args ...string) *exec.Cmd {
	cmd := exec.Command(i.path("/usr/bin/swivel"), append(args, "--config", i.path("/etc/swivel/swivel.yaml"))...)
	cmd.Dir = i.path("/var/lib/swivel")
	cmd.Env = []string{"SWIVEL_LISTEN=127.0.0.1:0", "SWIVEL_ADMIN=" + i.admin, "SWIVEL_PROXIES=" + i.path("/etc/swivel/proxies.txt")}
	if i.jailed {
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: i.root, Credential: &syscall.Credential{Uid: 10001, Gid: 10001}}
	}
	return cmd
}

func TestArchiveHasAProgramThatServesInAnEmptyContainer(t *testing.T) {
	dir := unpacked(t)
	for _, name := range []string{"swivel.1", "LICENSE", "README.md", "proxies.example.txt", "completions/_swivel", "deploy/systemd/swivel.service", "docs/configuration.md"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if out, err := exec.Command(filepath.Join(dir, "swivel"), "version").CombinedOutput(); err != nil || string(out) != "swivel "+version+"\n" {
		t.Errorf("%v: %s", err, out)
	}
	i := newImage(t, filepath.Join(dir, "swivel"))
	var log strings.Builder
	daemon := i.command("serve")
	daemon.Stderr = &log
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	healthy := i.waitHealthy(30 * time.Second)
	_ = daemon.Process.Signal(syscall.SIGTERM)
	if err := daemon.Wait(); err != nil || !healthy {
		t.Errorf("healthy: %t, %v: %s", healthy, err, log.String())
	}
	if _, err := os.Stat(filepath.Join(i.root, "/var/lib/swivel/swivel.db")); err != nil {
		t.Error(err)
	}
}

// waitHealthy asks as the HEALTHCHECK of the container does.
func (i image) waitHealthy(limit time.Duration) bool {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for deadline := time.After(limit); ; {
		if i.command("status", "--limit", "1").Run() == nil {
			return true
		}
		select {
		case <-deadline:
			return false
		case <-again.C:
		}
	}
}
