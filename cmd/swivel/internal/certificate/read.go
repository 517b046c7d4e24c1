package certificate

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"swivel/cmd/swivel/internal/namedfile"
)

// Read reads a certificate, with those between it and its authority behind it,
// and its key. Errors name the key of the configuration and the file, and show
// nothing of what is in it; there may be several, joined.
func Read(certFile, keyFile string) (*tls.Certificate, error) {
	cert, certErr := readPEM("tls_cert", certFile, "a certificate", func(kind string) bool { return kind == "CERTIFICATE" })
	key, keyErr := readPEM("tls_key", keyFile, "a private key", func(kind string) bool { return strings.HasSuffix(kind, "PRIVATE KEY") })
	if err := errors.Join(certErr, keyErr); err != nil {
		return nil, err
	}
	if isEncrypted(key) {
		return nil, fmt.Errorf("tls_key: the key in %s is encrypted, and nobody is there to be asked for its password; want it in the clear, readable by swivel only", keyFile)
	}
	pair, err := tls.X509KeyPair(cert, key) // whose errors have no types
	switch {
	case err == nil:
		return &pair, nil
	case strings.Contains(err.Error(), "does not match"):
		return nil, fmt.Errorf("tls_key: %s is not the key of the first certificate in %s", keyFile, certFile)
	}
	return nil, fmt.Errorf("tls_cert: %s with the key in %s cannot be used: %s", certFile, keyFile, strings.TrimPrefix(err.Error(), "tls: "))
}

// readPEM reads a file that has a block of a kind.
func readPEM(key, file, what string, is func(kind string) bool) ([]byte, error) {
	text, err := namedfile.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read %s: %w", key, file, err)
	}
	var others string
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if is(block.Type) {
			return text, nil
		}
		others = block.Type
	}
	if others != "" {
		return nil, fmt.Errorf("%s: %s holds no %s but a %s", key, file, strings.TrimPrefix(what, "a "), others)
	}
	return nil, fmt.Errorf("%s: %s holds nothing in PEM; want %s between lines with BEGIN and END", key, file, what)
}

// isEncrypted says whether a key can only be read with a password.
func isEncrypted(key []byte) bool {
	return bytes.Contains(key, []byte("ENCRYPTED PRIVATE KEY")) || bytes.Contains(key, []byte("Proc-Type: 4,ENCRYPTED"))
}
