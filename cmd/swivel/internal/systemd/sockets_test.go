package systemd

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"swivel/cmd/swivel/internal/config"
)

// file is a copy of a socket under another name, as a service manager gives it.
func file(t *testing.T, name string, socket interface{ File() (*os.File, error) }) *os.File {
	t.Helper()
	f, err := socket.File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return renamed(t, name, f)
}

func renamed(t *testing.T, name string, f *os.File) *os.File {
	t.Helper()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), name)
}

func tcp(t *testing.T) *net.TCPListener {
	t.Helper()
	ln, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return ln
}

func TestSocketsAreKnownByTheirNames(t *testing.T) {
	admin, listen := tcp(t), tcp(t)
	s, err := named([]*os.File{file(t, "admin", admin), file(t, "listen", listen)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	c := config.Default()
	s.Override(&c)
	if c.Listen != listen.Addr().String() || c.Admin != admin.Addr().String() {
		t.Errorf("listen %s, admin %s, want %v and %v", c.Listen, c.Admin, listen.Addr(), admin.Addr())
	}
	if s, err := named(nil); err != nil || s != (Sockets{}) {
		t.Errorf("without sockets: %v, %v", s, err)
	}
	unchanged := config.Default()
	Sockets{}.Override(&unchanged)
	if unchanged.Listen != config.Default().Listen || unchanged.Admin != config.Default().Admin {
		t.Error("without sockets the configuration changes")
	}
}

func TestSocketsThatDoNotFitAreAllNamed(t *testing.T) {
	path, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer path.Close()
	listener := tcp(t)
	connected, err := net.DialTCP("tcp", nil, listener.Addr().(*net.TCPAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer connected.Close()
	for _, c := range []struct {
		files []*os.File
		want  []string
	}{
		{[]*os.File{file(t, "listen", path)}, []string{"socket listen: want ListenStream= with an address"}},
		{[]*os.File{file(t, "admin", connected)}, []string{"socket admin: nobody can connect to it"}},
		{[]*os.File{file(t, "listen", listener), file(t, "listen", listener)}, []string{"socket listen: there are several"}},
		{[]*os.File{file(t, "http", listener), file(t, "LISTEN_FD_4", listener)}, []string{"socket http: want FileDescriptorName=", "socket LISTEN_FD_4: want"}},
	} {
		s, err := named(c.files)
		if err == nil || s != (Sockets{}) {
			t.Errorf("%v, %v, want %q", s, err, c.want)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v has no %q", err, want)
			}
		}
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if _, err := named([]*os.File{renamed(t, "listen", null)}); err == nil || err.Error() != "socket listen: it is no socket" {
		t.Error(err)
	}
}

func TestCountOfSocketsTookAllMemory(t *testing.T) {
	t.Setenv("LISTEN_PID", strconv.Itoa(os.Getpid()))
	for _, n := range []string{"17", "99999999"} {
		t.Setenv("LISTEN_FDS", n)
		if s, err := Inherited(); err == nil || s != (Sockets{}) || !strings.HasPrefix(err.Error(), "LISTEN_FDS="+n+": want 16 sockets at most") {
			t.Errorf("%s: %v, %v", n, s, err)
		}
	}
	// What is not meant for this process says nothing.
	t.Setenv("LISTEN_PID", strconv.Itoa(os.Getppid()))
	if s, err := Inherited(); err != nil || s != (Sockets{}) {
		t.Errorf("for another process: %v, %v", s, err)
	}
}
