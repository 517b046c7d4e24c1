package namedfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestReadIsWhatTheFileHolds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := Read(file); err != nil || string(text) != "text\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestErrorIsTheReasonAlone(t *testing.T) {
	if _, err := Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) || strings.Contains(err.Error(), "none") {
		t.Error(err)
	}
	if _, err := Read(t.TempDir()); !errors.Is(err, syscall.EISDIR) || strings.Contains(err.Error(), "/") {
		t.Error(err)
	}
}

func TestPipeThatNobodyWritesToIsEmpty(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := Read(pipe); err != nil || len(text) != 0 {
		t.Errorf("%q, %v", text, err)
	}
}

func TestFileWithoutEndIsGivenUp(t *testing.T) {
	if _, err := Read("/dev/zero"); err == nil || !strings.Contains(err.Error(), "longer than 64 MiB") {
		t.Error(err)
	}
}
