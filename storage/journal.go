package storage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// What the journal promises while its store works: how long after Put a record
// is stored. A process killed later than that has lost nothing.
const (
	UrgentWithin = 50 * time.Millisecond
	OthersWithin = time.Second
)

// The journal waits less than it promises, to leave time for the write itself.
const (
	urgentDelay  = 20 * time.Millisecond
	othersDelay  = 500 * time.Millisecond
	batchSize    = 1000 // rows a transaction: some 10 ms, so that readers get in between
	firstBackoff = 100 * time.Millisecond
	maxBackoff   = 5 * time.Second
)

// ErrClosed is what Flush returns once the journal is closed.
var ErrClosed = errors.New("journal is closed")

// Options are the callbacks of a journal. Both may be nil. They are called one
// at a time from the journal's goroutine, without a lock held, and should not
// take long: nothing is written meanwhile.
type Options struct {
	// OnIncident is called when writing begins to fail, once until it works
	// again, so that a full disk is one line in the log and not thousands.
	OnIncident func(err error)
	// OnRecovered is called when writing works again, with the number of
	// writes that failed in between.
	OnRecovered func(failures int)
}

// Stats is what a journal says about itself.
type Stats struct {
	Pending  int           // records not yet stored
	Written  uint64        // records stored since the start
	Failures uint64        // writes that failed since the start
	Dropped  uint64        // records refused: invalid, or put after Close
	Lag      time.Duration // how long the oldest pending record is overdue; 0 if none is
	Incident error         // why writing fails at present; nil if it works
}

// Journal writes records behind the caller's back: it keeps the newest record
// of each proxy and stores it a moment later, together with others. It is safe
// for concurrent use. Create one with [NewJournal], end it with [Journal.Close].
type Journal struct {
	store   Store
	options Options

	wake    chan struct{}   // holds one: the next write is earlier than the loop knows
	flushes chan chan error // a caller of Flush waits on what it sends
	closing chan struct{}   // closed by the first Close
	abandon func()          // ends the loop although records are left
	done    chan struct{}   // closed when the loop has ended

	mu        sync.Mutex
	queue     *queue
	inFlight  int       // records taken from the queue whose write is not decided
	flightDue time.Time // when the oldest of them was due
	retryAt   time.Time // no write before, except when told to
	backoff   time.Duration
	failedRun int // failures since the last success
	closed    bool
	stats     Stats // Pending and Lag are filled in when asked for
}

// NewJournal starts a journal in front of store. The store stays the caller's:
// close it after the journal.
func NewJournal(store Store, options Options) *Journal {
	ctx, cancel := context.WithCancel(context.Background())
	j := &Journal{
		store:   store,
		options: options,
		wake:    make(chan struct{}, 1),
		flushes: make(chan chan error),
		closing: make(chan struct{}),
		abandon: cancel,
		done:    make(chan struct{}),
		queue:   newQueue(),
	}
	go j.run(ctx)
	return j
}

// Put hands over a record, in place of an older one of the same proxy that is
// not stored yet. It never waits for the store. Urgent records (transitions)
// are stored within UrgentWithin, others within OthersWithin. A record that is
// invalid, or comes after Close, is counted as dropped: one bad record must not
// keep those beside it from being written. The caller must not change
// record.Failures and record.Window afterwards.
func (j *Journal) Put(record Record, urgent bool) {
	invalid := record.Validate() != nil
	delay := othersDelay
	if urgent {
		delay = urgentDelay
	}
	j.mu.Lock()
	if invalid || j.closed {
		j.stats.Dropped++
		j.mu.Unlock()
		return
	}
	before, waiting := j.queue.due()
	j.queue.put(entry{record: record, due: time.Now().Add(delay), urgent: urgent})
	after, _ := j.queue.due()
	j.mu.Unlock()
	if !waiting || after.Before(before) {
		j.wakeUp()
	}
}

func (j *Journal) wakeUp() {
	select {
	case j.wake <- struct{}{}:
	default: // it is told already
	}
}

// Flush stores everything that was put before it was called, now, and returns
// why it could not. It also tries a store that is failing, without waiting for
// the next retry. What could not be stored stays pending.
func (j *Journal) Flush(ctx context.Context) error {
	reply := make(chan error, 1)
	select {
	case j.flushes <- reply:
	case <-j.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// errClosed is why records are left that came behind an earlier Close, or that it
// gave up.
var errClosed = errors.New("the journal is closed")

// Close stores what is left and ends the journal. While the store fails it
// tries again until ctx ends, so give it a deadline; the error then says how
// many records are lost. Further calls wait for the same end.
func (j *Journal) Close(ctx context.Context) error {
	j.mu.Lock()
	if !j.closed {
		j.closed = true
		close(j.closing)
	}
	j.mu.Unlock()
	select {
	case <-j.done:
	case <-ctx.Done():
	}
	j.abandon() // if it still runs: it ends when the write that is under way does
	stats := j.Stats()
	if stats.Pending == 0 {
		return nil
	}
	end := ctx.Err()
	if end == nil {
		end = errClosed
	}
	if stats.Incident != nil {
		return fmt.Errorf("%d records are not stored: %w; given up: %w", stats.Pending, stats.Incident, end)
	}
	return fmt.Errorf("%d records are not stored; given up: %w", stats.Pending, end)
}

// Stats returns the counters of the moment.
func (j *Journal) Stats() Stats {
	now := time.Now()
	j.mu.Lock()
	defer j.mu.Unlock()
	stats := j.stats
	stats.Pending = j.queue.len() + j.inFlight
	if due, ok := j.queue.due(); ok {
		stats.Lag = max(0, now.Sub(due))
	}
	if j.inFlight > 0 {
		stats.Lag = max(stats.Lag, now.Sub(j.flightDue))
	}
	return stats
}
