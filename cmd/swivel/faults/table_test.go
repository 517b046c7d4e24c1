package faults

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
)

// table is what the tests found out, in the order in which they said so.
type table struct {
	mu     sync.Mutex
	rows   []string
	notRun []string
}

var figures table

// note adds a figure.
func note(t *testing.T, what, format string, args ...any) {
	t.Helper()
	figures.mu.Lock()
	defer figures.mu.Unlock()
	figures.rows = append(figures.rows, fmt.Sprintf("%s\t%s\t%s", strings.TrimPrefix(t.Name(), "Test"), what, fmt.Sprintf(format, args...)))
}

// notRun ends a test that this machine does not allow. It has not passed, and
// the table says so.
func notRun(t *testing.T, format string, args ...any) {
	t.Helper()
	why := fmt.Sprintf(format, args...)
	figures.mu.Lock()
	figures.notRun = append(figures.notRun, strings.TrimPrefix(t.Name(), "Test")+": "+why)
	figures.mu.Unlock()
	t.Skip("not run: " + why)
}

// wantRoot ends a test that only root can run.
func wantRoot(t *testing.T, what string) {
	t.Helper()
	if os.Geteuid() != 0 {
		notRun(t, "only root can %s", what)
	}
}

func (f *table) print(w io.Writer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range f.rows {
		_, _ = fmt.Fprintln(tabs, row)
	}
	_ = tabs.Flush()
	for _, what := range f.notRun {
		_, _ = fmt.Fprintln(w, "not run: "+what)
	}
	if len(f.notRun) == 0 {
		_, _ = fmt.Fprintln(w, "everything was run")
	}
}
