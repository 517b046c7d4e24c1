package upstream

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swivel/pool"
	"swivel/pool/upstream/leaktest"
)

// authority is a CA of its own, in memory but for the file that a proxy list
// would name.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test CA"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{cert: cert, key: key, file: filepath.Join(t.TempDir(), "ca.pem")}
	a.write(t, a.file)
	return a
}

func (a *authority) write(t *testing.T, path string) {
	t.Helper()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// server returns the configuration of a server for name that would rather
// speak h2.
func (a *authority) server(t *testing.T, name string) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		NextProtos:   []string{"h2", "http/1.1"},
	}
}

// secureProxy serves the script over TLS as proxy.test and returns a dialer
// that finds it and its spec.
func secureProxy(t *testing.T, a *authority, s script, by delivery) (*Dialer, *pool.Spec, <-chan outcome) {
	t.Helper()
	cfg := a.server(t, "proxy.test")
	addr, done := serve(t, s, by, func(c net.Conn) net.Conn { return tls.Server(c, cfg) })
	p := specFor(pool.HTTPS, addr, "")
	p.Host, p.CA = "proxy.test", a.file
	return withNames(patient(), "127.0.0.1"), p, done
}

func TestTunnelThroughTLS(t *testing.T) {
	leaktest.Watch(t)
	a := newAuthority(t)
	for _, by := range deliveries {
		t.Run(string(by), func(t *testing.T) {
			s := script{steps: []step{{connectHead("a.test:80", ""), okReply}}, follow: "SSH-2.0-x\r\n"}
			d, p, done := secureProxy(t, a, s, by)
			conn, err := d.Tunnel(background(t), p, "a.test:80", 0)
			if err != nil {
				t.Fatal(err)
			}
			secure, ok := conn.Conn.(*tls.Conn)
			if !ok {
				t.Fatalf("the connection is a %T", conn.Conn)
			}
			if state := secure.ConnectionState(); state.NegotiatedProtocol != "http/1.1" || state.ServerName != "proxy.test" {
				t.Errorf("spoke %q to %q", state.NegotiatedProtocol, state.ServerName)
			}
			rest, err := io.ReadAll(conn)
			if got := string(conn.Early) + string(rest); got != s.follow || err != nil {
				t.Errorf("%q followed, %v", got, err)
			}
			_ = conn.Close()
			if got := <-done; got.err != nil || got.extra != "" {
				t.Errorf("upstream: %+v", got)
			}
		})
	}
}

func TestHopSaysNothing(t *testing.T) {
	leaktest.Watch(t)
	d, p, done := secureProxy(t, newAuthority(t), script{steps: []step{{"GET ", ""}}}, normal)
	conn, err := d.Hop(background(t), p)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, "GET ")
	_ = conn.Close()
	if got := <-done; got.err != nil || got.extra != "" {
		t.Errorf("upstream: %+v", got)
	}
}

func TestTLSFailures(t *testing.T) {
	leaktest.Watch(t)
	a, stranger := newAuthority(t), newAuthority(t)
	bad := filepath.Join(t.TempDir(), "bad.pem")
	if err := os.WriteFile(bad, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		set  func(*pool.Spec)
		want pool.Signal
		text string
	}{
		{"trusted", func(*pool.Spec) {}, pool.NoSignal, ""},
		{"insecure", func(p *pool.Spec) { p.CA, p.Insecure = "", true }, pool.NoSignal, ""},
		{"system roots", func(p *pool.Spec) { p.CA = "" }, pool.DialTLS, "certificate"},
		{"another CA", func(p *pool.Spec) { p.CA = stranger.file }, pool.DialTLS, "unknown authority"},
		{"another name", func(p *pool.Spec) { p.Host = "other.test" }, pool.DialTLS, "other.test"},
		{"SNI stands in for the name", func(p *pool.Spec) { p.Host, p.SNI = "other.test", "proxy.test" }, pool.NoSignal, ""},
		{"no CA file", func(p *pool.Spec) { p.CA = bad + ".gone" }, pool.LocalFault, "CA file"},
		{"CA file that is none", func(p *pool.Spec) { p.CA = filepath.Dir(bad) }, pool.LocalFault, "no regular file"},
		{"bad CA file", func(p *pool.Spec) { p.CA = bad }, pool.LocalFault, "no certificate in"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, p, _ := secureProxy(t, a, script{}, normal)
			c.set(p)
			conn, err := d.Hop(background(t), p)
			if SignalOf(err) != c.want || err != nil && !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v", err)
			}
			if err == nil {
				_ = conn.Close()
			}
		})
	}
}

func TestProxiesThatDoNotSpeakTLS(t *testing.T) {
	leaktest.Watch(t)
	for _, c := range []struct {
		name   string
		handle func(net.Conn)
		want   pool.Signal
	}{
		{"plain HTTP", func(c net.Conn) { _, _ = io.WriteString(c, status("400 Bad Request")); drain(c) }, pool.DialTLS},
		{"closed", func(net.Conn) {}, pool.DialTLS},
		{"silent", drain, pool.DialTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			addr := listen(t, func(conn net.Conn) {
				defer conn.Close()
				c.handle(conn)
			})
			d := patient()
			if c.want == pool.DialTimeout {
				d = NewDialer(Timeouts{Handshake: 50 * time.Millisecond})
			}
			if _, err := d.Tunnel(background(t), specFor(pool.HTTPS, addr, ""), "a.test:80", 0); SignalOf(err) != c.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

func drain(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// TestRenewedCAFileIsRead: no restart because a CA was renewed.
func TestRenewedCAFileIsRead(t *testing.T) {
	a, stranger := newAuthority(t), newAuthority(t)
	d, p, _ := secureProxy(t, a, script{}, normal)
	p.CA = filepath.Join(t.TempDir(), "ca.pem")
	stranger.write(t, p.CA)
	if _, err := d.Hop(background(t), p); SignalOf(err) != pool.DialTLS {
		t.Fatalf("got %v", err)
	}
	a.write(t, p.CA)
	if err := os.Chtimes(p.CA, time.Time{}, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	conn, err := d.Hop(background(t), p)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	first, err := d.cas.load(p.CA)
	again, _ := d.cas.load(p.CA)
	if err != nil || first != again {
		t.Error("an unchanged file is parsed again")
	}
}
