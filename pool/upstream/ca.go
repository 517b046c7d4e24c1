package upstream

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
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
		return nil, fmt.Errorf("CA file %s: %w", path, withoutPath(err))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.files[path]; ok && f.size == info.Size() && f.modified.Equal(info.ModTime()) {
		return f.roots, nil
	}
	roots, err := readCAs(path)
	if err != nil {
		return nil, fmt.Errorf("CA file %s: %w", path, err)
	}
	if c.files == nil {
		c.files = make(map[string]caFile)
	}
	c.files[path] = caFile{modified: info.ModTime(), size: info.Size(), roots: roots}
	return roots, nil
}

// The faults of a CA file that can be opened.
var (
	errNoFile        = errors.New("it is no regular file")
	errNoCertificate = errors.New("there is no certificate in PEM form in it")
)

// CheckCA says what keeps the file that a proxy's ca= names from being used, nil if
// nothing does. The error does not repeat the path.
func CheckCA(path string) error {
	_, err := readCAs(path)
	return err
}

// readCAs reads regular files only: a pipe or a device would keep whoever waits for
// its end.
func readCAs(path string) (*x509.CertPool, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errNoFile
	}
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errNoCertificate
	}
	return roots, nil
}

// withoutPath cuts the path off an error of os: whoever reports it has named it.
func withoutPath(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
