package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swivel/cmd/swivel-bench/internal/soak"
)

func TestShortSoak(t *testing.T) {
	t.Setenv("TMPDIR", roomForAll(t))
	code, out, errOut := runBench(t, t.Context(), "soak", "--for", "15s", "--rate", "150")
	if code != exitOK || !strings.Contains(out, "  goroutines  ") || !strings.HasSuffix(out, "\ntoo short to say whether it grows after the first minute\n") {
		t.Errorf("exit code %d:\n%s%s", code, out, errOut)
	}
	for _, want := range []string{"  connect   opened ", "  plain     opened ", "  socks5    opened ", " 0 unexplained; ", "  left: 0 attempts under way, 0 connections, 0 records to write, 0 records dropped\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if left, err := filepath.Glob(os.Getenv("TMPDIR") + "/*"); len(left) > 0 || err != nil {
		t.Errorf("files were left: %q, %v", left, err)
	}
}

func TestVerdict(t *testing.T) {
	var out strings.Builder
	err := verdict(&out, []soak.Growth{{What: "RSS MiB", First: 30, Last: 60, Grows: true}, {What: "fds", First: 500, Last: 501}}, 0)
	if err == nil || err.Error() != "RSS MiB grows" {
		t.Errorf("got %v", err)
	}
	want := "\nafter the first minute, the first third and the last (medians; of the heap the least):\n" +
		"  RSS MiB        30.0 ->    60.0  GROWS\n" +
		"  fds           500.0 ->   501.0  does not grow\n"
	if out.String() != want {
		t.Errorf("got %s, want %s", out.String(), want)
	}
	if err := verdict(&out, nil, 7); err != nil {
		t.Error(err)
	}
	if err := verdict(&out, []soak.Growth{{What: "fds", Grows: true}}, 7); err == nil || !strings.Contains(err.Error(), "left out 7 exchanges") {
		t.Errorf("a machine that fell behind: %v", err)
	}
}
