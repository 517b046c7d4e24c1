package certificate

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestANamedPipeInTheFilesPlaceWasWaitedForForEver(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "cert.pem")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(pipe, pipe); err == nil || !strings.Contains(err.Error(), "tls_cert: "+pipe+" holds nothing in PEM") {
		t.Error(err)
	}
}
