package eventlog

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

const (
	// flushWithin is how long a line may wait for others to be written with. A
	// write for each line of its own is a fortieth of what a tunnel costs.
	flushWithin = 20 * time.Millisecond
	flushAt     = 32 << 10 // bytes

	// mostPending bounds the bytes that wait for a reader who does not keep up: the
	// lines of some 10,000 exchanges, which bridge a disk that is slow for a moment.
	// The writer may hold as much again, so a stall takes 8 MiB of memory.
	mostPending = 4 << 20
	// chunkSize holds what usually comes together. Some chunks are kept for the next
	// lines; what a stall has taken beyond them is given back.
	chunkSize  = 2 * flushAt
	mostSpares = 4

	// closeWithin is what the last lines have: a stop does not hang because nobody
	// reads the log.
	closeWithin = time.Second
)

// buffer gathers lines and has them written together: soon, when there are many,
// and at once when one is a warning or worse. Who hands in a line never waits for
// the reader of the log: one goroutine at a time writes, without the lock. When
// more than mostPending waits, new lines are lost and counted, and a line at their
// place says so. A process that is killed loses what it would have written within
// the next 20 ms. It is safe for concurrent use.
type buffer struct {
	to  io.Writer
	gap func(lost uint64) []byte // the line in place of lost ones

	allLost atomic.Uint64

	mu      sync.Mutex
	pending [][]byte      // whole lines, in chunks: they do not move when there are many
	size    int           // bytes of pending
	lost    uint64        // lines behind pending; nothing is added until it is taken
	spares  [][]byte      // empty chunks
	due     bool          // pending is to be written now
	writing chan struct{} // closed when the writer is done; nil: nobody writes
	timer   *time.Timer   // makes pending due
	armed   bool
}

func newBuffer(w io.Writer, gap func(lost uint64) []byte) *buffer {
	b := &buffer{to: w, gap: gap}
	b.timer = time.AfterFunc(time.Hour, b.flush)
	b.timer.Stop()
	return b
}

var _ zerolog.LevelWriter = (*buffer)(nil)

// Write takes one whole line. It does not fail: there is nobody to tell.
func (b *buffer) Write(line []byte) (int, error) { return b.WriteLevel(zerolog.InfoLevel, line) }

// WriteLevel implements zerolog.LevelWriter.
func (b *buffer) WriteLevel(level zerolog.Level, line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lost > 0 || b.size+len(line) > mostPending {
		b.lost++
		b.allLost.Add(1)
		b.begin()
		return len(line), nil
	}
	b.add(line)
	switch {
	case level >= zerolog.WarnLevel && level <= zerolog.PanicLevel, b.size >= flushAt:
		b.begin()
	case !b.armed:
		b.armed = true
		b.timer.Reset(flushWithin)
	}
	return len(line), nil
}

// add makes a line the last that is pending. mu is held.
func (b *buffer) add(line []byte) {
	last := len(b.pending) - 1
	if last < 0 || len(b.pending[last])+len(line) > cap(b.pending[last]) {
		b.pending = append(b.pending, b.chunk(len(line)))
		last++
	}
	b.pending[last] = append(b.pending[last], line...)
	b.size += len(line)
}

// chunk is an empty one with room for so many bytes. mu is held.
func (b *buffer) chunk(room int) []byte {
	last := len(b.spares) - 1
	if last < 0 || room > chunkSize {
		return make([]byte, 0, max(room, chunkSize))
	}
	c := b.spares[last]
	b.spares = b.spares[:last]
	return c
}

func (b *buffer) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin()
}

// begin has what is pending written, by the writer there is or a new one. mu is held.
func (b *buffer) begin() {
	b.due = true
	if b.writing == nil {
		b.writing = make(chan struct{})
		go b.write()
	}
}

// write writes as long as something is due.
func (b *buffer) write() {
	for {
		chunks, lost, ok := b.take()
		if !ok {
			return
		}
		for _, lines := range chunks {
			_, _ = b.to.Write(lines)
			b.giveBack(lines)
		}
		if lost > 0 {
			_, _ = b.to.Write(b.gap(lost))
		}
	}
}

// take is what the writer has to write next; not ok: nothing, and it is no longer
// the writer.
func (b *buffer) take() (chunks [][]byte, lost uint64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.due {
		close(b.writing)
		b.writing = nil
		return nil, 0, false
	}
	chunks, lost = b.pending, b.lost
	b.pending, b.size, b.lost = nil, 0, 0
	b.due, b.armed = false, false
	b.timer.Stop()
	return chunks, lost, true
}

func (b *buffer) giveBack(chunk []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if cap(chunk) == chunkSize && len(b.spares) < mostSpares {
		b.spares = append(b.spares, chunk[:0])
	}
}

// close has written what is left, for as long as closeWithin. What is written after
// it goes out as usual.
func (b *buffer) close() {
	b.mu.Lock()
	b.begin()
	written := b.writing
	b.mu.Unlock()
	select {
	case <-written:
	case <-time.After(closeWithin):
	}
}
