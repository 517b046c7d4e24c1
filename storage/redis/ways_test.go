package redis_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swivel/pool/upstream/listentest"
	"swivel/storage"
	"swivel/storage/redis/redistest"
)

// certificate writes one for 127.0.0.1 that nobody vouches for.
func certificate(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "redis"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func TestServerIsReachedOverTLSAndOverASocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "redis") // the path of a socket has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	cert, key := certificate(t, dir)
	port, socket := listentest.Reserved(t, redistest.Host).Port(), filepath.Join(dir, "s")
	redistest.Start(t, "--unixsocket", socket, "--tls-port", fmt.Sprint(port), "--tls-cert-file", cert, "--tls-key-file", key,
		"--tls-ca-cert-file", cert, "--tls-auth-clients", "no")
	secure := fmt.Sprintf("rediss://%s:%d", redistest.Host, port)
	for _, url := range []string{"unix://" + socket, "unix://" + socket + "?db=3#other", secure + "?skip_verify=true", secure + "/2?skip_verify=true#other"} {
		if got := sync(t, open(t, url), storage.Sync{Instance: "a"}); got.Instances != 1 {
			t.Errorf("%s: %+v", url, got)
		}
	}
	_, err = open(t, secure).Sync(t.Context(), storage.Sync{Instance: "a", Limit: 1, Gap: 1})
	if err == nil || !strings.Contains(err.Error(), "its certificate is not accepted") {
		t.Errorf("a certificate that nobody vouches for: %v", err)
	}
}
