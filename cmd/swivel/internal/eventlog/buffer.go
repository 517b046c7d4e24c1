package eventlog

import (
	"io"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const (
	// flushWithin is how long a line may wait for others to be written with. A
	// write for each line of its own is a fortieth of what a tunnel costs.
	flushWithin = 20 * time.Millisecond
	flushAt     = 32 << 10 // bytes
)

// Buffer gathers lines and writes them together: soon, when there are many, and
// at once when one is a warning or worse. A process that is killed loses what it
// would have written within the next 20 ms. It is safe for concurrent use; create
// it with NewBuffer.
type Buffer struct {
	mu    sync.Mutex
	to    io.Writer
	lines []byte
	timer *time.Timer
	armed bool
}

// NewBuffer returns a buffer in front of w. Close is to be called in the end.
func NewBuffer(w io.Writer) *Buffer {
	b := &Buffer{to: w}
	b.timer = time.AfterFunc(time.Hour, b.late)
	b.timer.Stop()
	return b
}

var _ zerolog.LevelWriter = (*Buffer)(nil)

// Write takes whole lines. It does not fail: there is nobody to tell.
func (b *Buffer) Write(lines []byte) (int, error) { return b.WriteLevel(zerolog.InfoLevel, lines) }

// WriteLevel implements zerolog.LevelWriter.
func (b *Buffer) WriteLevel(level zerolog.Level, lines []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, lines...)
	switch {
	case level >= zerolog.WarnLevel && level <= zerolog.PanicLevel, len(b.lines) >= flushAt:
		b.flush()
	case !b.armed:
		b.armed = true
		b.timer.Reset(flushWithin)
	}
	return len(lines), nil
}

func (b *Buffer) late() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flush()
}

// flush writes what there is. mu is held: lines have to come out in their order.
func (b *Buffer) flush() {
	b.armed = false
	b.timer.Stop()
	if len(b.lines) > 0 {
		_, _ = b.to.Write(b.lines)
		b.lines = b.lines[:0]
	}
}

// Close writes what is left. What is written after it goes out at once or within
// the usual time.
func (b *Buffer) Close() { b.late() }
