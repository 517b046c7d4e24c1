package front

import (
	"context"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/reply"
)

// An answer in HTTP to a greeting is "invalid version" to a SOCKS client, and tells
// its user nothing.
func TestSOCKSClientsThatFindNoPlaceAreToldSoInSOCKS(t *testing.T) {
	for name, full := range map[string]func(*rig){
		"connections":        func(r *rig) { r.settings.Connections = 1 },
		"client_connections": func(r *rig) { r.most = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.users = []string{"user1:s3cret"}
			full(r)
			r.start(r.proxy(tunnels).addr())
			r.dial()
			eventually(t, "it has taken the place", func() bool { return r.front.Connections() == 1 })
			for i, test := range []struct{ send, want string }{
				{bothOffer + socksLogin("user1", "s3cret") + socksConnect("example.test", 443), askPassword + letIn + socksRefusal(1)},
				{noAuthOffer, "\x05\xff"}, // users have to give a password, as always
				{"\x04\x01\x01\xbb\x7f\x00\x00\x01\x00", "\x00\x5b\x00\x00\x00\x00\x00\x00"},
			} {
				c := r.dial()
				c.send(test.send)
				c.expect(test.want)
				c.expectEnd()
				if x := r.logged(i + 1); i == 0 && (x.Code != "over_capacity" || x.Kind != "socks5" || x.Target != "example.test:443") {
					t.Errorf("logged %+v", x)
				}
			}
		})
	}
}

// One that says no more must not keep others from being told, nor the process from
// ending.
func TestSOCKSClientThatFindsNoPlaceIsNotWaitedForLong(t *testing.T) {
	r := newRig(t)
	r.settings.Connections, r.settings.HeaderTimeout = 1, 300*time.Millisecond
	r.start(r.proxy(tunnels).addr())
	open := r.connect(target)
	c := r.dial()
	c.send(bothOffer)
	c.expect(askPassword)
	if x := r.logged(1); x.Status != 408 {
		t.Errorf("logged %+v", x)
	}
	c.expect(socksRefusal(1))
	_ = c.Close()
	_ = open.Close()
}

// Beyond those that are waited for there are clients that are told at once or not at
// all.
func TestSOCKSClientsOverTheNumberOfRefusedAreNotAnsweredInHTTP(t *testing.T) {
	for first, want := range map[string]string{
		bothOffer: "\x05\xff", "\x04\x01": "\x00\x5b\x00\x00\x00\x00\x00\x00", connectHead(target): "HTTP/1.1 503 ",
	} {
		near, far := connected(t)
		if _, err := near.Write([]byte(first)); err != nil {
			t.Fatal(err)
		}
		awaitInput(t, far)
		(&client{front: &Front{}, tcp: far, conn: far, refused: reply.OverCapacity()}).refuseQuickly()
		said, err := io.ReadAll(near)
		if err != nil || !strings.HasPrefix(string(said), want) {
			t.Errorf("%q was answered by %q, %v", first, said, err)
		}
	}
}

// connected returns the two ends of a connection.
func connected(t *testing.T) (near net.Conn, far *net.TCPConn) {
	t.Helper()
	ln, err := Listen(context.Background(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if near, err = net.Dial("tcp", ln.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = near.Close() })
	if far, err = ln.AcceptTCP(); err != nil {
		t.Fatal(err)
	}
	return near, far
}

// awaitInput returns when something can be read, and leaves it there.
func awaitInput(t *testing.T, c *net.TCPConn) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	_ = raw.Read(func(fd uintptr) bool {
		n, _, _ := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		return n > 0
	})
}
