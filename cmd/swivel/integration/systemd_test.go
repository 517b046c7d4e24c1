package integration

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// serviceManager is the part of systemd that a service speaks with.
type serviceManager struct {
	socket *net.UnixConn
	path   string
}

func newServiceManager(t testing.TB) *serviceManager {
	t.Helper()
	dir, err := os.MkdirTemp("", "notify") // a test's own folder may have too long a name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	m := &serviceManager{path: filepath.Join(dir, "s")}
	if m.socket, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.path, Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.socket.Close() })
	return m
}

// told is the next message of the service.
func (m *serviceManager) told(t testing.TB) string {
	t.Helper()
	_ = m.socket.SetReadDeadline(time.Now().Add(20 * time.Second))
	b := make([]byte, 512)
	n, err := m.socket.Read(b)
	if err != nil {
		t.Fatalf("nothing was told: %v", err)
	}
	return string(b[:n])
}

// socket is a listening socket, with its address and a file to hand it over.
func socket(t testing.TB) (address string, file *os.File) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if file, err = ln.(*net.TCPListener).File(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return ln.Addr().String(), file
}

// handOver hands listening sockets over as a service manager does, under these
// names, separated by colons. A shell says for whom they are, since only the process
// itself knows its number.
func handOver(s swiveltest.Setup, names string, sockets ...*os.File) swiveltest.Setup {
	s.Shell, s.Files = "export LISTEN_PID=$$", sockets
	s.Env = append(s.Env, "LISTEN_FDS="+strconv.Itoa(len(sockets)), "LISTEN_FDNAMES="+names)
	return s
}

// closedProxy is a line for a proxy that refuses connections.
const closedProxy = "127.0.0.1:1"

func TestServiceManagerHandsOverSocketsAndIsTold(t *testing.T) {
	manager := newServiceManager(t)
	listen, listenFile := socket(t)
	admin, adminFile := socket(t)
	s := handOver(swiveltest.Setup{Lines: []string{closedProxy}, Dir: t.TempDir(), Env: []string{"NOTIFY_SOCKET=" + manager.path}},
		"admin:listen", adminFile, listenFile)
	first := startDaemon(t, s)
	if first.Listen != listen || first.Admin != admin {
		t.Fatalf("swivel listens on %s and %s, not on %s and %s", first.Listen, first.Admin, listen, admin)
	}
	if got := manager.told(t); got != "READY=1" {
		t.Errorf("at the start it tells %q", got)
	}
	if resp, err := http.Get("http://" + admin + "/healthz"); err != nil || resp.StatusCode != 200 {
		t.Errorf("healthz: %v, %v", resp, err)
	}
	first.Signal(t, syscall.SIGHUP)
	if got := manager.told(t); !strings.HasPrefix(got, "RELOADING=1\nMONOTONIC_USEC=") {
		t.Errorf("at a reload it tells %q", got)
	}
	if got := manager.told(t); got != "READY=1" {
		t.Errorf("after a reload it tells %q", got)
	}
	first.Signal(t, syscall.SIGTERM)
	if got := manager.told(t); !strings.HasPrefix(got, "STOPPING=1\nEXTEND_TIMEOUT_USEC=") {
		t.Errorf("when it stops it tells %q", got)
	}
	if code := first.Wait(t, 20*time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
	client := askConnect(t, listen) // in between, which only the socket knows
	startDaemon(t, s)
	resp, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err != nil || resp.Header.Get("X-Swivel-Error") != "attempts_spent" {
		t.Errorf("who came while swivel started again was answered %v, %v", resp, err)
	}
}

// askConnect asks for a tunnel without waiting for the answer.
func askConnect(t testing.TB, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	_, err = io.WriteString(c, "CONNECT target.test:443 HTTP/1.1\r\nHost: target.test:443\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The address of a socket that was handed over is checked as one that swivel
// opens itself.
func TestSocketsThatDoNotFitEndTheStart(t *testing.T) {
	listen, file := socket(t)
	list := filepath.Join(t.TempDir(), "proxies.txt")
	writeFile(t, list, closedProxy+"\n", 0o600)
	for _, c := range []struct {
		name, want string
	}{
		{"listen", "swivel: admin: want another port than listen has\n"},
		{"swivel.socket", "swivel: socket swivel.socket: want FileDescriptorName=listen or =admin in its unit\n"},
	} {
		cmd := handOver(swiveltest.Setup{}, c.name, file).Command(t, "serve", "--proxies", list, "--db", ":memory:", "--listen", "127.0.0.1:0", "--admin", listen)
		child := swiveltest.Start(t, "swivel", cmd)
		if code, out := child.Wait(t, 20*time.Second), child.Output(t); code != 2 || out != c.want {
			t.Errorf("%s: exit code %d: %s", c.name, code, out)
		}
	}
}
