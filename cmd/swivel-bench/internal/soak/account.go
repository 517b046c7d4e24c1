package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"swivel/cmd/swivel-bench/internal/peer"
)

// Watch reads swivel's log while it is written, and gives back the room that it
// takes: a day of it would fill a disk.
type Watch struct {
	log    *os.File
	read   int64 // bytes
	rest   []byte
	logged map[string]int64 // exchanges by kind
	bad    []string         // lines that should not be there
}

// NewWatch reads the log in a file from its beginning.
func NewWatch(file string) (*Watch, error) {
	log, err := os.OpenFile(file, os.O_RDWR, 0)
	return &Watch{log: log, logged: map[string]int64{}}, err
}

// Close ends the reading.
func (w *Watch) Close() { _ = w.log.Close() }

// Read takes in what has been written since.
func (w *Watch) Read() error {
	more, err := io.ReadAll(io.NewSectionReader(w.log, w.read, 1<<40))
	if err != nil {
		return err
	}
	w.read += int64(len(more))
	lines := bytes.SplitAfter(append(w.rest, more...), []byte("\n"))
	w.rest = bytes.Clone(lines[len(lines)-1]) // not whole yet
	for _, text := range lines[:len(lines)-1] {
		w.line(text)
	}
	// The file stays as long as it is, and takes no room any more; on a file
	// system that cannot do that it does.
	_ = unix.Fallocate(int(w.log.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, w.read)
	return nil
}

func (w *Watch) line(text []byte) {
	var l struct{ Level, Message, Kind string }
	switch err := json.Unmarshal(text, &l); {
	case err == nil && l.Message == "exchange":
		w.logged[l.Kind]++
	case err != nil, l.Level == "error", l.Level == "fatal", l.Level == "panic":
		if len(w.bad) < keep {
			w.bad = append(w.bad, string(bytes.TrimSpace(text)))
		}
	}
}

// Account waits until everything is over and says what does not add up.
func (r *Run) Account(ctx context.Context, p *peer.Running, w *Watch, out io.Writer) error {
	opened := r.Tally.Opened()
	var m metrics
	deadline := time.Now().Add(settling)
	for {
		var err error
		if m, err = scrape(ctx, "http://"+p.Admin+"/metrics"); err != nil {
			return err
		}
		if err := w.Read(); err != nil {
			return err
		}
		if m.inFlight == 0 && m.connections == 0 && m.pending == 0 && maps.Equal(opened, m.exchanges) && maps.Equal(opened, w.logged) || time.Now().After(deadline) {
			break
		}
		if !pause(ctx, 100*time.Millisecond) {
			return ctx.Err()
		}
	}
	return r.compare(opened, m, w, out)
}

func (r *Run) compare(opened map[string]int64, m metrics, w *Watch, out io.Writer) error {
	var problems []error
	totals := r.Tally.Totals()
	_, _ = fmt.Fprintf(out, "\n%d exchanges: %d good, %d left, %d refused, %d harmed (%s), %d unexplained; %s\n",
		totals.Opened, totals.Good, totals.Left, totals.Refused, totals.Harmed, r.Tally.String(), totals.Unexplained, r.Said())
	for _, kind := range slices.Sorted(maps.Keys(opened)) {
		_, _ = fmt.Fprintf(out, "  %-8s  opened %d, logged %d, counted %d\n", kind, opened[kind], w.logged[kind], m.exchanges[kind])
	}
	_, _ = fmt.Fprintf(out, "  left: %.0f attempts under way, %.0f connections, %.0f records to write, %.0f records dropped\n", m.inFlight, m.connections, m.pending, m.dropped)
	if !maps.Equal(opened, w.logged) || !maps.Equal(opened, m.exchanges) || totals.Opened != totals.Closed() {
		problems = append(problems, fmt.Errorf("exchanges are not accounted for: opened %v (%d), closed %d, logged %v, counted %v", opened, totals.Opened, totals.Closed(), w.logged, m.exchanges))
	}
	if m.inFlight != 0 || m.connections != 0 || m.pending != 0 || m.dropped != 0 {
		problems = append(problems, errors.New("something is left behind"))
	}
	if totals.Unexplained > 0 {
		problems = append(problems, fmt.Errorf("%d errors are unexplained, the first: %w", totals.Unexplained, r.Tally.Unexplained()))
	}
	for _, line := range w.bad {
		problems = append(problems, fmt.Errorf("in the log: %.500s", line))
	}
	return errors.Join(problems...)
}
