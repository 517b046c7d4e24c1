package eventlog

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// stalled takes nothing until it is released.
type stalled struct {
	chunks
	release chan struct{}
}

func (s *stalled) Write(p []byte) (int, error) {
	<-s.release
	return s.chunks.Write(p)
}

func (s *stalled) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(bytes.Join(s.all, nil))
}

// fill logs lines, with numbers from 0 on, until one is lost, and returns its number.
func fill(log *Log) int {
	for n := 0; ; n++ {
		log.Warn().Int("n", n).Msg(strings.Repeat("long ", 200))
		synctest.Wait() // the writer has the first
		if log.Lost() > 0 {
			return n
		}
	}
}

var gaps = map[string]*regexp.Regexp{
	"json":    regexp.MustCompile(`^\{"level":"warn","lost":3,"time":"[^"]+","message":"lines are missing here: .*"\}$`),
	"console": regexp.MustCompile(`^\S+ WRN lines are missing here: .* lost=3$`),
}

func TestAStalledReaderLosesLinesAndIsToldWhere(t *testing.T) {
	for format, gap := range gaps {
		t.Run(format, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := stalled{release: make(chan struct{})}
				log := newBuffered(t, &s, format)
				kept := fill(log)
				log.Info().Msg("short, but behind one that is lost")
				log.Error().Msg("so is this")
				if log.Lost() != 3 {
					t.Errorf("%d lines are lost, want 3", log.Lost())
				}
				close(s.release)
				synctest.Wait()
				log.Warn().Int("n", kept).Msg("after")
				log.Close()
				checkStall(t, s.text(), kept, gap)
			})
		})
	}
}

// checkStall wants the lines of fill in order, the one in place of those that are
// lost, and one more.
func checkStall(t *testing.T, text string, kept int, gap *regexp.Regexp) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != kept+2 || !gap.MatchString(lines[kept]) {
		t.Fatalf("%d lines, want %d and %v behind %d: %.300q", len(lines), kept+2, gap, kept, lines[min(kept, len(lines)-1)])
	}
	for i, line := range append(lines[:kept:kept], lines[kept+1]) {
		if !strings.Contains(line, fmt.Sprintf(`"n":%d,`, i)) && !strings.HasSuffix(line, fmt.Sprintf(" n=%d", i)) {
			t.Fatalf("line %d: %.300q", i, line)
		}
	}
	if size := kept * 1000; size < mostPending*9/10 || size > mostPending {
		t.Errorf("%d bytes were kept", size)
	}
}

func TestALineThatIsTooLongIsLostAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c chunks
		log := newBuffered(t, &c, "json")
		log.Info().Str("text", strings.Repeat("x", mostPending)).Msg("")
		log.Close()
		log.Info().Str("text", strings.Repeat("x", mostPending/2)).Msg("whole")
		log.Close()
		if c.count() != 2 || !bytes.Contains(c.all[0], []byte(`"lost":1`)) || !bytes.HasSuffix(c.all[1], []byte("\"whole\"}\n")) {
			t.Errorf("%d writes, first: %.300q", c.count(), c.all)
		}
	})
}

func TestAStallLeavesNoMemoryBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stalled{release: make(chan struct{})}
		log := newBuffered(t, &s, "json")
		fill(log)
		close(s.release)
		log.Close()
		b := log.lines
		kept := 0
		for _, c := range append(b.spares, b.pending...) {
			kept += cap(c)
		}
		if kept > mostSpares*chunkSize {
			t.Errorf("%d bytes are kept for the next lines", kept)
		}
	})
}

func TestCloseDoesNotWaitLongForAStalledReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stalled{release: make(chan struct{})}
		log := newBuffered(t, &s, "json")
		log.Warn().Msg("nobody reads this")
		began := time.Now()
		log.Close()
		if took := time.Since(began); took != closeWithin {
			t.Errorf("Close took %v, want %v", took, closeWithin)
		}
		time.AfterFunc(closeWithin/2, func() { close(s.release) })
		log.Info().Msg("nor this yet")
		log.Close()
		if text := s.text(); strings.Count(text, "\n") != 2 {
			t.Errorf("the reader was slow, and got %q", text)
		}
	})
}
