// Package redistest starts real Redis servers for tests: children on a loopback
// port of their own, which end with the test.
//
//	server := redistest.Start(t)
//	client, err := redis.Open(server.URL())
package redistest

import (
	"bufio"
	"fmt"
	"net"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"swivel/pool/upstream/listentest"
)

// Host is where servers listen.
const Host = "127.0.0.78"

// Server is a redis-server. Its methods fail the test rather than return errors.
type Server struct {
	t    testing.TB
	port int
	args []string

	mu    sync.Mutex
	cmd   *exec.Cmd // nil: it does not run
	ended chan struct{}
}

// Start starts a server with further arguments, such as --maxmemory. A
// redis-server that is not installed fails the test.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	s := &Server{t: t, port: int(listentest.Reserved(t, Host).Port()), args: args}
	s.Restart()
	t.Cleanup(s.Kill)
	return s
}

// Addr is where the server listens.
func (s *Server) Addr() string { return fmt.Sprintf("%s:%d", Host, s.port) }

// URL is the address with a scheme.
func (s *Server) URL() string { return "redis://" + s.Addr() }

// Restart starts the server, which does not run, on its old port and with nothing
// in it.
func (s *Server) Restart() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	args := append([]string{"--port", fmt.Sprint(s.port), "--bind", Host, "--save", "", "--appendonly", "no", "--dir", s.t.TempDir()}, s.args...)
	cmd := exec.Command("redis-server", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started, ended := make(chan error), make(chan struct{})
	go run(cmd, started, ended)
	if err := <-started; err != nil {
		s.t.Fatalf("redis-server (apt-get install redis-server): %v", err)
	}
	s.cmd, s.ended = cmd, ended
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if s.answers() {
			return
		}
	}
	s.t.Fatal("redis-server does not answer")
}

// run starts the process and waits for it on one thread: it is when the thread that
// started it ends that the kernel sends the parent-death signal.
func run(cmd *exec.Cmd, started chan<- error, ended chan<- struct{}) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	err := cmd.Start()
	started <- err
	if err == nil {
		_ = cmd.Wait()
	}
	close(ended)
}

func (s *Server) answers() bool {
	c, err := net.DialTimeout("tcp", s.Addr(), time.Second)
	if err != nil {
		return false
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	_, _ = fmt.Fprint(c, "PING\r\n")
	line, _ := bufio.NewReader(c).ReadString('\n')
	return strings.HasPrefix(line, "+PONG") || strings.HasPrefix(line, "-NOAUTH")
}

// Kill ends the server with SIGKILL.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		<-s.ended
		s.cmd = nil
	}
}

// Stop has the server answer nobody until Go.
func (s *Server) Stop() { s.signal(syscall.SIGSTOP) }

// Go has it go on.
func (s *Server) Go() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		s.t.Fatal("the server does not run")
	}
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// Do sends one command and returns the first line of the answer.
func (s *Server) Do(words ...string) string {
	s.t.Helper()
	c, err := net.DialTimeout("tcp", s.Addr(), 5*time.Second)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = fmt.Fprintf(c, "*%d\r\n", len(words))
	for _, w := range words {
		_, _ = fmt.Fprintf(c, "$%d\r\n%s\r\n", len(w), w)
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSpace(line)
}
