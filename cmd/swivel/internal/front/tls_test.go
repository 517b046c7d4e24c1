package front

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/tunnel"
)

// clientTLS is how the rigs to come speak with clients; nil: without TLS.
var clientTLS *tls.Config

// speakTLS has the rigs of a test speak TLS with clients.
func speakTLS(t testing.TB) {
	clientTLS = &tls.Config{
		Certificates: []tls.Certificate{selfSigned(t)}, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12,
	}
	t.Cleanup(func() { clientTLS = nil })
}

// TestOverTLS holds TLS to what plain connections promise.
func TestOverTLS(t *testing.T) {
	speakTLS(t)
	for name, test := range map[string]func(*testing.T){
		"a challenge keeps the connection":     TestAClientThatWaitsForTheChallengeGetsInOnTheSameConnection,
		"clients that leave harm nobody":       TestClientsThatLeaveDuringTheHandshakeHarmNobody,
		"bulk both ways":                       TestBulkIsRelayedByteForByteBothWaysAtOnce,
		"back-pressure":                        TestReaderThatStallsLosesNothing,
		"connections of one client":            TestAClientHasSoManyConnections,
		"bounds of heads":                      TestHeadsOutOfBoundsAreRefusedWithAReason,
		"a head that never ends":               TestHeadThatNeverEndsIsTimedOut,
		"a connection that asks nothing":       TestConnectionThatAsksNothingIsClosed,
		"a full front":                         TestFullFrontTellsSoAndComesBack,
		"few descriptors":                      TestClientsAreSentAwayBeforeDescriptorsRunOut,
		"failover":                             TestTunnelMovesBeforeItsFirstByte,
		"failover behind a hello in pieces":    TestClientHelloInPiecesIsPassedOnAtOnceAndMovesWhole,
		"TLS inside":                           TestNoTLSClientNoticesProxiesThatHangUpBehindTheir200,
		"a proxy with TLS":                     TestTLSProxyStreamsLikeAnyOther,
		"a refusal amid an upload":             TestRefusalSurvivesInputThatNobodyReads,
		"shutdown with tunnels":                TestShutdownLetsTunnelsFinishAndThenCutsThem,
		"shutdown with streams":                TestShutdownWithTunnelsThatStream,
		"shutdown with idle connections":       TestShutdownDoesNotWaitForIdleConnections,
		"shutdown between requests":            TestShutdownBetweenTwoRequests,
		"tunnels with one side":                TestTunnelsWithOneSideGoneAreReaped,
		"idle tunnels":                         TestIdleTunnelsAreEndedAndBusyOnesAreNot,
		"SOCKS5":                               TestSOCKS5ClientsGetTheSameTunnels,
		"bytes behind the head":                TestBytesBehindTheHeadOfTheClientArriveOnce,
		"CONNECT behind plain requests":        TestConnectBehindPlainRequestsKeepsItsEarlyBytes,
		"half-close":                           TestClientGetsAllThatFollowsItsOwnFIN,
		"either end":                           TestEndOfEitherSideReachesTheOther,
		"targets that are not allowed":         TestTargetsThatAreNotAllowedAreRefusedInEveryForm,
		"no direct connection":                 TestNoDirectConnectionWhateverThePoolIsLike,
		"every way in is guarded":              TestEveryWayInIsGuarded,
		"moves against all that may interfere": TestWhatMayNotBeSentTwiceIsNotMoved,
	} {
		t.Run(name, test)
	}
}

// bare connects without TLS to a port that speaks it.
func (r *rig) bare() *testClient {
	before := r.tls
	r.tls = nil
	defer func() { r.tls = before }()
	return r.dial()
}

func TestWhoSpeaksNoTLSIsToldSoInItsOwnWords(t *testing.T) {
	speakTLS(t)
	r := newRig(t)
	r.start(r.closedPort())
	const why = "this port speaks TLS: use an https:// proxy URL"
	for send, want := range map[string]string{
		connectHead(target): "HTTP/1.1 400 " + why + "\r\n",
		"GET http://example.test/ HTTP/1.1\r\nHost: example.test\r\n\r\n":                                 "HTTP/1.1 400 Bad Request\r\n",
		"POST http://example.test/ HTTP/1.1\r\nContent-Length: 999999\r\n\r\n" + strings.Repeat("x", 1e6): "HTTP/1.1 400 Bad Request\r\n",
		"\x05\x02\x00\x02\x05": "\x05\xff",
		"\x05\x01\x00":         "\x05\xff", // less than TLS would wait for
		"\x00\x01\x02\x03\x04": "",
	} {
		c := r.bare()
		c.send(send)
		got, err := io.ReadAll(c.br)
		if err != nil || !strings.HasPrefix(string(got), want) || (want == "") != (len(got) == 0) {
			t.Errorf("%.20q: %q, %v", send, got, err)
		}
		if strings.HasPrefix(want, "HTTP") && !strings.Contains(string(got), "\r\n\r\nswivel: "+why) {
			t.Errorf("%.20q: %q", send, got)
		}
	}
	if n := strings.Count(r.log.String(), "neither TLS nor"); n != 1 {
		t.Errorf("the log tells of garbage %d times", n)
	}
}

func TestTLSWithinTLSWasToldThatThePortSpeaksNone(t *testing.T) {
	speakTLS(t)
	r := newRig(t)
	r.start(r.closedPort())
	c := r.dial()
	c.send("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
	resp, body := c.reply()
	if resp.StatusCode != 400 || !strings.Contains(body, "TLS within TLS") || strings.Contains(body, "speaks no TLS") {
		t.Errorf("%s: %q", resp.Status, body)
	}
}

func TestHandshakeThatNeverEndsIsTimedOutAndHurtsNobody(t *testing.T) {
	speakTLS(t)
	r := newRig(t)
	r.settings.HeaderTimeout = 500 * time.Millisecond
	r.start(r.proxy(tunnels).addr())
	hello, stop := clientHello(t, "example.test"), make(chan struct{})
	defer close(stop)
	var stuck []*testClient
	for i := range 30 {
		c := r.bare()
		switch i % 3 {
		case 0:
			c.send(hello) // and nothing behind it
		case 1:
			go drip(c.wire, hello, stop)
		}
		stuck = append(stuck, c)
	}
	c := r.connect(target)
	c.send("x")
	c.expect("x")
	for _, c := range stuck {
		_, err := io.ReadAll(c.br)
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			t.Fatal("a handshake goes on")
		}
	}
	eventually(t, "only one is left", func() bool { return r.front.Connections() == 1 })
}

func TestShutdownDoesNotWaitForHandshakes(t *testing.T) {
	speakTLS(t)
	r := newRig(t)
	r.start(r.closedPort())
	for range 3 {
		r.bare()
	}
	eventually(t, "they are known", func() bool { return r.front.Connections() == 3 })
	began := time.Now()
	if cut := r.shutdown(patience); cut != 0 || time.Since(began) > 5*time.Second {
		t.Errorf("cut %d after %v", cut, time.Since(began))
	}
	if strings.Contains(r.log.String(), "TLS with a client") {
		t.Errorf("the log has %s", &r.log)
	}
}

func TestOnlyHTTP11AndModernTLSAreAgreedOn(t *testing.T) {
	speakTLS(t)
	r := newRig(t)
	r.start(r.closedPort())
	for _, c := range []struct {
		offer  []string
		max    uint16
		agreed string
		ok     bool
	}{
		{[]string{"h2", "http/1.1"}, 0, "http/1.1", true},
		{nil, tls.VersionTLS12, "", true},
		{[]string{"h2"}, 0, "", false},
		{nil, tls.VersionTLS11, "", false},
	} {
		conn, err := tls.Dial("tcp", r.addr, &tls.Config{InsecureSkipVerify: true, NextProtos: c.offer, MinVersion: tls.VersionTLS10, MaxVersion: c.max})
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
		if err == nil {
			if got := conn.ConnectionState().NegotiatedProtocol; got != c.agreed {
				t.Errorf("%+v: %q", c, got)
			}
			_ = conn.Close()
		}
	}
	if conn, err := tls.Dial("tcp", r.addr, &tls.Config{ServerName: "proxy.test"}); err == nil {
		t.Error("the certificate is trusted")
		_ = conn.Close()
	}
	eventually(t, "the log tells of one", func() bool { return strings.Count(r.log.String(), "TLS with a client") == 1 })
}

// An end without a close_notify may be an attacker's, and clients say so. After a
// body that was cut short that is right, after everything else it is not.
func TestOrderlyEndsAreToldInTLS(t *testing.T) {
	const whole = "HTTP/1.1 200 OK\r\nDate: now\r\nServer: o\r\n"
	for name, c := range map[string]struct {
		script  func(*peer)
		ask     string
		half    bool
		orderly bool
	}{
		"a refusal":              {answers("HTTP/1.1 502 Bad\r\n\r\n"), connectHead(target), false, true},
		"a response until close": {answers(whole + "\r\nbody"), "GET http://example.test/ HTTP/1.0\r\n\r\n", false, true},
		"a body cut short":       {answers(whole + "Content-Length: 100\r\n\r\nbody"), "GET http://example.test/ HTTP/1.1\r\nHost: example.test\r\n\r\n", false, false},
		"a tunnel":               {answers(ok200 + "bye"), connectHead(target), false, true},
		"a tunnel half closed":   {tunnels, connectHead(target) + "x", true, true},
		"a tunnel reset":         {func(c *peer) { c.head(); c.send(ok200); c.take(1); c.reset() }, connectHead(target) + "x", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			speakTLS(t)
			r := newRig(t)
			r.start(r.proxy(c.script).addr())
			seen := &recorder{Conn: r.bare().wire}
			client := tls.Client(seen, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12})
			_, _ = io.WriteString(client, c.ask)
			if c.half {
				_ = client.CloseWrite()
			}
			got, _ := io.ReadAll(client)
			if seen.endsWithAlert() != c.orderly {
				t.Errorf("%q", got)
			}
		})
	}
}

// recorder keeps what is read. Go takes a connection that just ends for one that
// was closed, other clients do not.
type recorder struct {
	net.Conn
	read []byte
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.read = append(r.read, p[:n]...)
	return n, err
}

// endsWithAlert says whether the last record is an alert, which tls.VersionTLS12
// does not hide.
func (r *recorder) endsWithAlert() bool {
	const alert = 21
	last := byte(0)
	for b := r.read; len(b) >= 5; {
		last = b[0]
		b = b[min(len(b), 5+int(binary.BigEndian.Uint16(b[3:]))):]
	}
	return last == alert
}

// Whoever ends one tunnel after the other must not wait for the clients.
func TestClientsThatReadNothingDoNotHoldUpTheSweep(t *testing.T) {
	speakTLS(t)
	r := newRig(t)
	flood := r.proxy(func(c *peer) {
		c.head()
		c.send(ok200)
		for chunk := make([]byte, 64<<10); ; {
			if _, err := c.Write(chunk); err != nil {
				return
			}
		}
	})
	r.start(flood.addr())
	r.registry = tunnel.NewRegistry(0, nil)
	r.registry.MaxAge = 500 * time.Millisecond
	r.front.Tunnel.Registry = r.registry
	for range 4 {
		r.connect(target)
	}
	began := time.Now()
	r.sweep()
	eventually(t, "all tunnels are ended", func() bool { return r.registry.Len() == 0 })
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("that took %v", took)
	}
}
