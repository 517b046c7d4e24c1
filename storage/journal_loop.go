package storage

import (
	"context"
	"time"
)

// run is the journal's one goroutine, so there is one write at a time and an
// older record can never overwrite a newer one. It ends after Close.
func (j *Journal) run(ctx context.Context) {
	defer close(j.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var tick <-chan time.Time // stays nil, which blocks, while nothing is to do
		if wait, ok := j.untilNext(time.Now()); ok {
			timer.Reset(wait)
			tick = timer.C
		}
		select {
		case <-tick:
			j.writeDue(ctx)
		case <-j.wake:
		case reply := <-j.flushes:
			reply <- j.writeAll(ctx)
		case <-j.closing:
			j.drain(ctx)
			return
		}
	}
}

// untilNext returns how long the loop may rest; ok is false if until woken.
func (j *Journal) untilNext(now time.Time) (wait time.Duration, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	due, ok := j.queue.due()
	if due.Before(j.retryAt) {
		due = j.retryAt
	}
	return max(0, due.Sub(now)), ok
}

// writeDue stores one batch only: the loop looks at the other events in
// between, and urgent records that arrive meanwhile come next.
func (j *Journal) writeDue(ctx context.Context) {
	j.mu.Lock()
	oldest, _ := j.queue.due()
	entries := j.queue.takeDue(time.Now(), batchSize)
	j.inFlight, j.flightDue = len(entries), oldest
	j.mu.Unlock()
	_ = j.write(ctx, entries) // reported as an incident; the records are back in the queue
}

// writeAll stores everything that is pending at its start; records that arrive
// meanwhile do not prolong it.
func (j *Journal) writeAll(ctx context.Context) error {
	j.mu.Lock()
	oldest, _ := j.queue.due()
	entries := j.queue.takeAll()
	j.inFlight, j.flightDue = len(entries), oldest
	j.mu.Unlock()
	return j.write(ctx, entries)
}

// drain stores everything, however often it takes, until ctx ends.
func (j *Journal) drain(ctx context.Context) {
	for j.writeAll(ctx) != nil {
		wait, _ := j.untilNext(time.Now())
		retry := time.NewTimer(wait)
		select {
		case <-retry.C:
		case <-ctx.Done():
			retry.Stop()
			return
		}
	}
}

// write stores the entries in transactions of bounded size. With the first that
// fails it gives back everything that is not stored.
func (j *Journal) write(ctx context.Context, entries []*entry) error {
	for len(entries) > 0 {
		batch := entries[:min(batchSize, len(entries))]
		if err := j.store.Save(ctx, records(batch)); err != nil {
			j.failed(ctx, err, entries)
			return err
		}
		entries = entries[len(batch):]
		j.saved(len(batch))
	}
	return nil
}

func records(entries []*entry) []Record {
	out := make([]Record, len(entries))
	for i, e := range entries {
		out[i] = e.record
	}
	return out
}

func (j *Journal) failed(ctx context.Context, err error, unsaved []*entry) {
	j.mu.Lock()
	j.queue.giveBack(unsaved)
	j.inFlight = 0
	j.stats.Failures++
	j.stats.Incident = err
	j.failedRun++
	begins := j.failedRun == 1
	j.backoff = min(max(firstBackoff, 2*j.backoff), maxBackoff)
	j.retryAt = time.Now().Add(j.backoff)
	j.mu.Unlock()
	// A write that Close gave up on is Close's to report.
	if begins && ctx.Err() == nil && j.options.OnIncident != nil {
		j.options.OnIncident(err)
	}
}

func (j *Journal) saved(n int) {
	j.mu.Lock()
	j.inFlight -= n
	j.stats.Written += uint64(n)
	j.stats.Incident = nil
	failures := j.failedRun
	j.failedRun = 0
	j.backoff, j.retryAt = 0, time.Time{}
	j.mu.Unlock()
	if failures > 0 && j.options.OnRecovered != nil {
		j.options.OnRecovered(failures)
	}
}
