// Package certificate is what swivel shows clients that speak TLS to it: a chain
// and its key, from two files in PEM, which can be replaced while it is shown.
//
//	shown, err := certificate.Open("fullchain.pem", "privkey.pem")
//	...
//	conn := tls.Server(tcp, shown.Config())
//	...
//	err = shown.Reload() // when the files have changed
package certificate

import (
	"crypto/tls"
	"fmt"
	"sync/atomic"
	"time"
)

// Shown is the certificate that clients are shown. It is safe for concurrent use;
// see Open.
type Shown struct {
	certFile, keyFile string
	pair              atomic.Pointer[tls.Certificate]
}

// Open reads the certificate, of which errors say what Read says.
func Open(certFile, keyFile string) (*Shown, error) {
	s := &Shown{certFile: certFile, keyFile: keyFile}
	return s, s.Reload()
}

// Reload reads the files again. With an error the certificate stays what it was.
func (s *Shown) Reload() error {
	pair, err := Read(s.certFile, s.keyFile)
	if err == nil {
		s.pair.Store(pair)
	}
	return err
}

// Concern is Concern of the certificate that is shown.
func (s *Shown) Concern(now time.Time) string { return Concern(s.pair.Load(), now) }

// Until is when the certificate expires.
func (s *Shown) Until() time.Time { return s.pair.Load().Leaf.NotAfter }

// Config is how TLS is spoken to clients. Who can speak HTTP/2 only is refused. A
// record is as large as may be from the first one on: small ones, which a browser
// can begin to show sooner, cost a system call each.
func (s *Shown) Config() *tls.Config {
	return &tls.Config{
		GetCertificate:              func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.pair.Load(), nil },
		NextProtos:                  []string{"http/1.1"},
		MinVersion:                  tls.VersionTLS12,
		DynamicRecordSizingDisabled: true,
	}
}

// Concern says what clients will hold against a certificate at the time, or soon,
// though it can be shown; "" if nothing is known. Certificates are renewed when a
// third or so of their time is left: with a tenth, something does not work.
func Concern(pair *tls.Certificate, now time.Time) string {
	const day = "2006-01-02 15:04 MST"
	switch leaf := pair.Leaf; {
	case now.After(leaf.NotAfter):
		return fmt.Sprintf("the certificate expired on %s: clients will not accept it", leaf.NotAfter.UTC().Format(day))
	case now.Before(leaf.NotBefore):
		return fmt.Sprintf("the certificate is not valid before %s: clients will not accept it", leaf.NotBefore.UTC().Format(day))
	case leaf.NotAfter.Sub(now) < leaf.NotAfter.Sub(leaf.NotBefore)/10:
		return fmt.Sprintf("the certificate expires on %s, and has not been renewed", leaf.NotAfter.UTC().Format(day))
	}
	return ""
}
