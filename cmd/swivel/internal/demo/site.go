package demo

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
	"net/http"
	"time"
)

// site answers every request with the name of the toy that it was reached
// through.
type site string

// ServeHTTP implements http.Handler.
func (s site) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, string(s)+"\n")
}

// certificateLife is longer than anybody looks at a demo.
const certificateLife = 7 * 24 * time.Hour

// newCertificate makes a certificate for the site, and the authority to trust
// for it, in PEM. The authority may vouch for the site only, and its key is
// forgotten here: a client that goes on trusting it trusts nobody.
func newCertificate(now time.Time) (leaf tls.Certificate, authority []byte, err error) {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return leaf, nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return leaf, nil, err
	}
	ca := template("swivel demo", 1, now)
	ca.IsCA, ca.KeyUsage = true, x509.KeyUsageCertSign
	ca.PermittedDNSDomainsCritical, ca.PermittedDNSDomains = true, []string{Host}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return leaf, nil, err
	}
	site := template(Host, 2, now)
	site.KeyUsage, site.DNSNames = x509.KeyUsageDigitalSignature, []string{Host}
	site.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, site, ca, key.Public(), caKey)
	if err != nil {
		return leaf, nil, err
	}
	leaf = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	return leaf, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}), nil
}

// template is valid a little before now, for clients whose clock is behind.
func template(name string, serial int64, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife),
		BasicConstraintsValid: true,
	}
}
