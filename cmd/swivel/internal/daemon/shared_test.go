package daemon

import (
	"context"
	"testing"
	"time"

	"swivel/pool"
)

// The end used to be waited for by who stored pauses, and that one by the end.
func TestPausesToBeStoredDoNotHoldUpTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := &member{deeds: make(chan func()), over: ctx.Done()} // nobody stores any more
	m.learnPause(pool.ID("53aa97ecfdf05c2f"), `{"reason":"why"}`, time.Now())
}
