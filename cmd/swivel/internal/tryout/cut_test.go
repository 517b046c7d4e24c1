package tryout

import (
	"context"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"swivel/pool"
	"swivel/pool/upstream"
)

func TestAnswerThatIsCutShortIsNone(t *testing.T) {
	target, err := ParseTarget("http://site.test/")
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]pool.Signal{"hello": pool.NoSignal, "hel": pool.ResponseCut} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		go func() {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = conn.Read(make([]byte, 4<<10))
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"+body)
		}()
		at := netip.MustParseAddrPort(ln.Addr().String())
		d := upstream.NewDialer(upstream.Timeouts{Dial: 10 * time.Second, Handshake: 10 * time.Second})
		_, err = target.Ask(context.Background(), d, &pool.Spec{Host: at.Addr().String(), Port: at.Port()}, nil, 10*time.Second)
		if got := upstream.SignalOf(err); got != want {
			t.Errorf("the body %q: %v, want %v", body, got, want)
		}
	}
}
