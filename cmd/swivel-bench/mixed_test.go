package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swivel/cmd/swivel-bench/internal/load"
	"swivel/cmd/swivel-bench/internal/soak"
)

func TestShortMixedLoad(t *testing.T) {
	t.Setenv("TMPDIR", roomForAll(t))
	code, out, errOut := runBench(t, t.Context(), "mixed", "--for", "2s")
	if code != exitOK || !strings.Contains(out, "  goroutines  ") || !strings.HasSuffix(out, "\ntoo short to say whether it grows after the first minute\n") {
		t.Errorf("exit code %d:\n%s%s", code, out, errOut)
	}
	if n := strings.Count(out, "\n"); n < 10 || strings.Contains(out, " - ") {
		t.Errorf("%d lines, or no goroutines in\n%s", n, out)
	}
	if left, err := filepath.Glob(os.Getenv("TMPDIR") + "/*"); len(left) > 0 || err != nil {
		t.Errorf("files were left: %q, %v", left, err)
	}
}

func TestVerdict(t *testing.T) {
	var out strings.Builder
	var tally load.Tally
	tally.Add(errors.New("no answer"))
	err := verdict(&out, []soak.Growth{{What: "RSS MiB", First: 30, Last: 60, Grows: true}, {What: "fds", First: 500, Last: 501}}, &tally)
	if want := "RSS MiB grows\n1 operations failed, the first: no answer"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	want := "\nafter the first minute, medians of the first third and of the last:\n" +
		"  RSS MiB        30.0 ->    60.0  GROWS\n" +
		"  fds           500.0 ->   501.0  does not grow\n"
	if out.String() != want {
		t.Errorf("got %s, want %s", out.String(), want)
	}
	if err := verdict(&out, nil, &load.Tally{}); err != nil {
		t.Error(err)
	}
}
