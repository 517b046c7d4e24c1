package front

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

func readFull(r io.Reader, b []byte) (int, error) { return io.ReadFull(r, b) }

// pattern is n bytes of which no 16 KiB look like any others.
func pattern(n int) []byte {
	b := make([]byte, n)
	x := uint32(2463534242)
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	return b
}

// sameBytes reads r to its end and compares.
func sameBytes(r io.Reader, want []byte) error {
	got, err := io.ReadAll(r)
	switch {
	case err != nil:
		return err
	case !bytes.Equal(got, want):
		return errors.New("the bytes are not the ones sent: " + brief(got))
	}
	return nil
}

func TestBulkIsRelayedByteForByteBothWaysAtOnce(t *testing.T) {
	up, down := pattern(24<<20), pattern(17 << 20)[1:]
	r := newRig(t)
	received := make(chan error, 1)
	p := r.proxy(func(c *peer) {
		c.head()
		c.send(ok200)
		written := make(chan struct{})
		go func() {
			defer close(written)
			_, _ = c.Write(down)
			_ = c.CloseWrite()
		}()
		received <- sameBytes(c.br, up)
		<-written // the end of the script closes the connection
	})
	r.start(p.addr())
	c := r.connect(target)
	go func() {
		_, _ = c.Write(up)
		_ = c.CloseWrite()
	}()
	if err := sameBytes(c.br, down); err != nil {
		t.Errorf("down: %v", err)
	}
	if err := <-received; err != nil {
		t.Errorf("up: %v", err)
	}
	if x := r.logged(1); x.Up != int64(len(up)) || x.Down != int64(len(down)) {
		t.Errorf("counted %d up, %d down", x.Up, x.Down)
	}
}

func TestReaderThatStallsLosesNothing(t *testing.T) {
	down := pattern(64 << 20) // the kernel may take half of it for one socket (tcp_rmem)
	r := newRig(t)
	written := make(chan struct{})
	p := r.proxy(func(c *peer) {
		c.head()
		c.send(ok200)
		_, _ = c.Write(down)
		close(written)
	})
	r.start(p.addr())
	c := r.connect(target)
	_ = c.tcp.SetReadBuffer(256 << 10)
	select {
	case <-written:
		t.Fatal("64 MiB were taken off a proxy whose client reads nothing")
	case <-time.After(300 * time.Millisecond): // all buffers are full by now
	}
	if err := sameBytes(c.br, down); err != nil {
		t.Error(err)
	}
}

// BenchmarkConnect opens a tunnel, sends a KiB to and fro and closes it; for
// everybody, with a ClientHello, which is kept until the first byte, and for a user
// with a password and a rate.
func BenchmarkConnect(b *testing.B) {
	kib := pattern(1 << 10)
	b.Run("open", func(b *testing.B) { benchConnect(b, newRig(b), connectHead(target), kib) })
	b.Run("TLS", func(b *testing.B) {
		benchConnect(b, newRig(b), connectHead(target), []byte(clientHello(b, "example.test")))
	})
	b.Run("login", func(b *testing.B) {
		r := newRig(b)
		r.users, r.rate = []string{"user1:s3cret"}, 1e6
		benchConnect(b, r, connectWith(basic("user1-country-de:s3cret")), kib)
	})
}

func benchConnect(b *testing.B, r *rig, head string, question []byte) {
	r.start(r.proxy(tunnels).addr() + " country=de")
	r.log.discard = true
	buf := make([]byte, 4<<10)
	b.ReportAllocs()
	for b.Loop() {
		c, err := net.Dial("tcp", r.addr)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.WriteString(c, head)
		if _, err := c.Read(buf); err != nil {
			b.Fatal(err)
		}
		_, _ = c.Write(question)
		if _, err := io.ReadFull(c, buf[:len(question)]); err != nil {
			b.Fatal(err)
		}
		_ = c.Close()
	}
}
