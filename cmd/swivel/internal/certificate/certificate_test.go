package certificate

import (
	"crypto/tls"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel/internal/certificate/certtest"
)

// pair is a certificate and its key in PEM.
type pair struct{ cert, key []byte }

func newPair(t *testing.T, name string, from, until time.Time) pair {
	cert, key := certtest.Pair(t, name, from, until)
	return pair{cert, key}
}

// files writes a certificate and a key, or what passes for them.
func files(t *testing.T, cert, key []byte) (certFile, keyFile string) {
	t.Helper()
	certFile, keyFile = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	for path, text := range map[string][]byte{certFile: cert, keyFile: key} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

func TestReadSaysWhatIsWrong(t *testing.T) {
	now := time.Now()
	one, other := newPair(t, "one", now, now.Add(time.Hour)), newPair(t, "other", now, now.Add(time.Hour))
	for name, c := range map[string]struct {
		cert, key []byte
		want      string
	}{
		"of another":    {one.cert, other.key, "tls_key: KEY is not the key of the first certificate in CERT"},
		"wrong order":   {append(append([]byte{}, other.cert...), one.cert...), one.key, "tls_key: KEY is not the key of the first certificate in CERT"},
		"exchanged":     {one.key, one.cert, "tls_cert: CERT holds no certificate but a PRIVATE KEY\ntls_key: KEY holds no private key but a CERTIFICATE"},
		"empty":         {nil, one.key, "tls_cert: CERT holds nothing in PEM; want a certificate between lines with BEGIN and END"},
		"DER":           {one.cert, []byte("0\x82s3cret"), "tls_key: KEY holds nothing in PEM; want a private key between lines with BEGIN and END"},
		"no ASN.1":      {pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("s3cret")}), one.key, "tls_cert: CERT with the key in KEY cannot be used: x509: malformed certificate"},
		"encrypted":     {one.cert, pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("s3cret")}), "tls_key: the key in KEY is encrypted, and nobody is there to be asked for its password; want it in the clear, readable by swivel only"},
		"half a key":    {one.cert, one.key[:len(one.key)/2], "tls_key: KEY holds nothing in PEM; want a private key between lines with BEGIN and END"},
		"in one file":   {append(append([]byte{}, one.key...), one.cert...), one.key, ""},
		"with comments": {append([]byte("subject=CN = one\n"), one.cert...), append([]byte("Bag Attributes\n"), one.key...), ""},
	} {
		certFile, keyFile := files(t, c.cert, c.key)
		_, err := Read(certFile, keyFile)
		got := ""
		if err != nil {
			got = strings.NewReplacer(certFile, "CERT", keyFile, "KEY").Replace(err.Error())
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	_, err := Read("/nowhere/cert", "/nowhere/key")
	if err == nil || err.Error() != "tls_cert: cannot read /nowhere/cert: no such file or directory\ntls_key: cannot read /nowhere/key: no such file or directory" {
		t.Errorf("%v", err)
	}
}

func TestConcernIsWhatClientsWillHoldAgainstIt(t *testing.T) {
	from, until := time.Date(2031, 1, 2, 3, 0, 0, 0, time.UTC), time.Date(2031, 4, 2, 3, 0, 0, 0, time.UTC)
	p := newPair(t, "one", from, until)
	shown, err := Open(files(t, p.cert, p.key))
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Time]string{
		from.Add(-time.Second):          "the certificate is not valid before 2031-01-02 03:00 UTC: clients will not accept it",
		from:                            "",
		until.Add(-10 * 24 * time.Hour): "",
		until.Add(-8 * 24 * time.Hour):  "the certificate expires on 2031-04-02 03:00 UTC, and has not been renewed",
		until:                           "the certificate expires on 2031-04-02 03:00 UTC, and has not been renewed",
		until.Add(time.Second):          "the certificate expired on 2031-04-02 03:00 UTC: clients will not accept it",
	} {
		if got := shown.Concern(at); got != want {
			t.Errorf("%v: %q", at, got)
		}
	}
	if !shown.Until().Equal(until) {
		t.Errorf("until %v", shown.Until())
	}
}

func TestReloadShowsTheNewPairToThoseWhoComeThenOrKeepsTheOld(t *testing.T) {
	now := time.Now()
	first, second := newPair(t, "first", now, now.Add(time.Hour)), newPair(t, "second", now, now.Add(time.Hour))
	certFile, keyFile := files(t, first.cert, first.key)
	shown, err := Open(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	config := shown.Config()
	for _, step := range []struct {
		cert, key []byte
		ok        bool
		want      string
	}{
		{first.cert, first.key, true, "first"},
		{second.cert, first.key, false, "first"}, // half of a replacement
		{second.cert, second.key, true, "second"},
		{nil, nil, false, "second"},
	} {
		_ = os.WriteFile(certFile, step.cert, 0o600)
		_ = os.WriteFile(keyFile, step.key, 0o600)
		if err := shown.Reload(); (err == nil) != step.ok {
			t.Errorf("%v", err)
		}
		if got := met(t, config); got != step.want {
			t.Errorf("shown is %q, want %q", got, step.want)
		}
	}
}

// met is the name in the certificate that a client is shown.
func met(t *testing.T, config *tls.Config) string {
	t.Helper()
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		defer far.Close()
		_ = tls.Server(far, config).Handshake()
	}()
	client := tls.Client(near, &tls.Config{InsecureSkipVerify: true})
	if err := client.Handshake(); err != nil {
		t.Fatal(err)
	}
	return client.ConnectionState().PeerCertificates[0].Subject.CommonName
}
