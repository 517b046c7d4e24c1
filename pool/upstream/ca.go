package upstream

import (
	"crypto/x509"
	"fmt"
	"os"
	"sync"
	"time"
)

// caFiles remembers the CA files that proxy lists name, parsed. A file that
// changed on disk is read again, so a renewed CA needs no restart. The zero
// value is ready; it is safe for concurrent use. It holds one entry per path
// that the operator's lists ever named.
type caFiles struct {
	mu    sync.Mutex
	files map[string]caFile
}

type caFile struct {
	modified time.Time
	size     int64
	roots    *x509.CertPool
}

// load returns the certificates in the file.
func (c *caFiles) load(path string) (*x509.CertPool, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("CA file: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.files[path]; ok && f.size == info.Size() && f.modified.Equal(info.ModTime()) {
		return f.roots, nil
	}
	roots, err := readCAs(path)
	if err != nil {
		return nil, err
	}
	if c.files == nil {
		c.files = make(map[string]caFile)
	}
	c.files[path] = caFile{modified: info.ModTime(), size: info.Size(), roots: roots}
	return roots, nil
}

func readCAs(path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("CA file: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("CA file: no certificate in %s", path)
	}
	return roots, nil
}
