package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"swivel/breaker"
	"swivel/pool"
)

func TestFileAndSettingsThatCannotBeUsedAreReportedByLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "proxies.txt")
	text := "# vendor\nh:1\nhttps://h:2 ca=/none.pem name=a\nbad\nhttps://h:3-4 ca=/none.pem\nh:5 open_timeout=5h\nh:6\nh:6 max_open_timeout=1s\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	lists, err := ReadLists([]string{file}, breaker.DefaultSettings())
	if err != nil || len(lists.Specs) != 1 || len(lists.Skipped) != 6 {
		t.Fatalf("%d proxies, %v, %v", len(lists.Specs), lists.Skipped, err)
	}
	for i, want := range []string{
		"line 4: the address has no port", "line 3: ca: cannot read /none.pem: no such file or directory", "line 5: ca: cannot read", "line 5: ca: cannot read",
		"line 6: max_open_timeout: ", "line 8: max_open_timeout: ",
	} {
		if got := lists.Skipped[i].Error(); !strings.HasPrefix(got, file+": "+want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if n := lists.Reasons()["ca: cannot read /none.pem: no such file or directory"]; n != 3 {
		t.Errorf("%d lines for one reason: %v", n, lists.Reasons())
	}
}

// TestCAFileWithoutACertificateIsRefusedWithItsLine: the proxy would be blamed for it
// at every attempt.
func TestCAFileWithoutACertificateIsRefusedWithItsLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "proxies.txt")
	text := "h:1\nhttps://h:2 ca=" + file + "\nhttps://h:3 ca=" + filepath.Dir(file) + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	lists, err := ReadLists([]string{file}, breaker.DefaultSettings())
	if err != nil || len(lists.Specs) != 1 || len(lists.Skipped) != 2 {
		t.Fatalf("%d proxies, %v, %v", len(lists.Specs), lists.Skipped, err)
	}
	for i, want := range []string{
		"line 2: ca: cannot read " + file + ": there is no certificate in PEM form in it",
		"line 3: ca: cannot read " + filepath.Dir(file) + ": it is no regular file",
	} {
		if got := lists.Skipped[i].Error(); got != file+": "+want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestOnlyProxyIsTakenForAGatewayUnlessItsLineSaysOtherwise(t *testing.T) {
	for text, want := range map[string]bool{
		"h:1\n":                      true,
		"h:1\nh:1\n":                 true, // merged
		"h:1 rotating=false\n":       false,
		"h:1\nh:2\n":                 false,
		"h:1-2\n":                    false,
		"h:1\nu-{random}:p@h:2\n":    false,
		"h:1 rotating\nh:2\n":        true,
		"bad\nh:1 weight=2 tag=a\n#": true,
	} {
		file := filepath.Join(t.TempDir(), "proxies.txt")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		lists, err := ReadLists([]string{file}, breaker.DefaultSettings())
		if err != nil || lists.Specs[0].Rotating != want {
			t.Errorf("%q: %v, rotating %v", text, err, lists.Specs[0].Rotating)
		}
	}
}

// A list that was replaced by a named pipe without a writer held up that reload, and
// with it every later one, the watch and the end.
func TestNamedPipeInAListsPlaceHeldUpReloads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "proxies.txt")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := (&Sources{beside: true}).Read(t.Context(), []string{file}, breaker.DefaultSettings())
	if !errors.Is(err, pool.ErrNoProxies) {
		t.Errorf("nobody writes: %v", err)
	}
}

// At the start somebody may be about to write, a program that fetches a password first.
func TestNamedPipeIsWaitedForAtTheStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "proxies.txt")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		if w, err := os.OpenFile(file, os.O_WRONLY, 0); err == nil { // once it is being read
			_, _ = w.WriteString("192.0.2.1:8080\n")
			_ = w.Close()
		}
	}()
	if l, err := ReadLists([]string{file}, breaker.DefaultSettings()); err != nil || len(l.Specs) != 1 {
		t.Errorf("%d proxies, %v", len(l.Specs), err)
	}
}
