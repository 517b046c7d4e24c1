// Package logtest keeps a log in memory, for tests that read it while it is written.
package logtest

import (
	"bytes"
	"sync"
)

// Buffer is what was written so far. It may be read while it is written, and the
// zero value is empty.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer, and never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String is all of it.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
