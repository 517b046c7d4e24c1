package eventlog

import (
	"bytes"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// chunks keeps every write.
type chunks struct {
	mu  sync.Mutex
	all [][]byte
}

func (c *chunks) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, bytes.Clone(p))
	return len(p), nil
}

func (c *chunks) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.all)
}

// newBuffered is a log whose lines are written together to w.
func newBuffered(t *testing.T, w io.Writer, format string) *Log {
	t.Helper()
	log, err := NewBuffered(w, format, "debug")
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestLinesAreWrittenTogetherAndSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c chunks
		log := newBuffered(t, &c, "json")
		for range 10 {
			log.Info().Msg("one")
			time.Sleep(time.Millisecond)
		}
		if n := c.count(); n != 0 {
			t.Errorf("%d writes after 10 ms", n)
		}
		time.Sleep(flushWithin)
		synctest.Wait()
		if c.count() != 1 || bytes.Count(c.all[0], []byte("\n")) != 10 {
			t.Errorf("written: %q, want one write with 10 lines", c.all)
		}
		log.Close()
	})
}

func TestAWarningIsWrittenAtOnceBehindWhatCameBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c chunks
		log := newBuffered(t, &c, "json")
		log.Info().Msg("before")
		log.Warn().Msg("trouble")
		synctest.Wait() // not a millisecond
		if c.count() != 1 || !bytes.Contains(c.all[0], []byte("before")) || !bytes.Contains(c.all[0], []byte("trouble")) {
			t.Errorf("written: %q", c.all)
		}
		log.Info().Msg("after")
		log.Close()
		if c.count() != 2 {
			t.Errorf("%d writes after Close, want what was left", c.count())
		}
	})
}

func TestManyLinesDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c chunks
		log := newBuffered(t, &c, "json")
		for range 1000 {
			log.Info().Str("text", "some more of it, to fill the buffer").Msg("line")
		}
		synctest.Wait()
		if n := c.count(); n < 1 || n > 10 {
			t.Errorf("%d writes for 1000 lines at once", n)
		}
		log.Close()
		lines := 0
		for _, chunk := range c.all {
			lines += bytes.Count(chunk, []byte("\n"))
		}
		if lines != 1000 {
			t.Errorf("%d lines came out", lines)
		}
	})
}
