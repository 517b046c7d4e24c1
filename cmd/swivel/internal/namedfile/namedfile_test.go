package namedfile

import (
	"errors"
	"io"
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

func TestWriterThatComesLateIsAwaited(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(pipe) // before there is a writer
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	awaited := make(chan error, 1)
	go func() { awaited <- Await(f) }()
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteString("text\n"); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	if err := <-awaited; err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(f); err != nil || string(text) != "text\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestNobodyIsAwaitedAtAFile(t *testing.T) {
	f, err := Open("namedfile.go")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Await(f); err != nil {
		t.Error(err)
	}
}
