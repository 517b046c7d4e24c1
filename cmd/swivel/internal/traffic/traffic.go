// Package traffic remembers how the last quarter of an hour went, in steps of
// ten seconds: how many requests were served, how fast, and how full swivel was.
// Prometheus knows that better, but not everybody has one, and a page that is
// opened while something goes wrong should show how it began.
//
//	r := traffic.New(time.Now())
//	r.Exchange(&line, now)   // on the way of a request: a few additions under a lock
//	r.Sample(gauges, now)    // once a step
//	r.Last(time.Minute, now) // for the page
package traffic

import (
	"sync"
	"time"

	"swivel/cmd/swivel/internal/eventlog"
)

// Step is how long each part of the record is, and kept how many there are.
const (
	Step = 10 * time.Second
	kept = 90
)

// Recorder is the record. It is safe for concurrent use; on a nil Recorder
// Exchange does nothing. Create it with New.
type Recorder struct {
	started time.Time

	mu    sync.Mutex
	parts [kept]part
	last  Gauges // as of the last sample
}

// part is one step. It is reused for the step that comes kept steps later.
type part struct {
	step int64 // since the start, counted from 1; 0: never used
	Counts
	times times
}

// Counts are what came to an end in some time.
type Counts struct {
	Served  int // requests that were answered by a target, or had their tunnel
	Failed  int // requests that swivel answered with 502, 503 or 504
	Refused int // requests that were not acceptable, or whose client left
	Up      int64
	Down    int64

	// Attempts with a verdict that counts, and those among them that failed.
	Attempts, AttemptsFailed int

	// As of the last sample.
	Connections int
	Usable      float64 // share of the weights of the list that can be picked, 0 to 1
}

// Gauges are what a sample takes.
type Gauges struct {
	Connections int
	Usable      float64
	// Attempts with a verdict that counts since the start, and those that failed.
	Attempts, AttemptsFailed uint64
}

// New returns an empty record.
func New(now time.Time) *Recorder { return &Recorder{started: now} }

// Exchange takes note of a request that is over.
func (r *Recorder) Exchange(x *eventlog.Exchange, now time.Time) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.part(now)
	switch {
	case x.Code == "": // 4xx and 5xx too: so the target said
		p.Served++
	case x.Status >= 502 && x.Status <= 504:
		p.Failed++
	default:
		p.Refused++
	}
	p.Up += max(x.Up, 0)
	p.Down += max(x.Down, 0)
	if x.Opened > 0 {
		p.times.add(x.Opened)
	}
}

// Sample takes note of how things stand.
func (r *Recorder) Sample(g Gauges, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.part(now)
	p.Connections, p.Usable = g.Connections, g.Usable
	p.Attempts += int(g.Attempts - r.last.Attempts)
	p.AttemptsFailed += int(g.AttemptsFailed - r.last.AttemptsFailed)
	r.last = g
}

// part is the one that now belongs to. mu is held.
func (r *Recorder) part(now time.Time) *part {
	step := r.step(now)
	p := &r.parts[step%kept]
	if p.step != step {
		*p = part{step: step}
		p.Connections, p.Usable = r.last.Connections, r.last.Usable
	}
	return p
}

func (r *Recorder) step(now time.Time) int64 { return 1 + int64(max(0, now.Sub(r.started))/Step) }

// Span is what happened in some time.
type Span struct {
	Counts
	At            time.Time     // when it began
	Took          time.Duration // how long it was
	P50, P95, P99 time.Duration // until a tunnel or a response was there; 0: none was
}

// Last returns what happened in the last time, about so long: to the beginning
// of a step, or of the record.
func (r *Recorder) Last(about time.Duration, now time.Time) Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.step(now)
	first := max(1, last-int64(about/Step)+1)
	var sum part
	for step := first; step <= last; step++ {
		if p := &r.parts[step%kept]; p.step == step {
			sum.add(&p.Counts)
			sum.times.addAll(&p.times)
		}
	}
	return r.span(&sum, first, now)
}

// History returns the steps that are over, the earliest first.
func (r *Recorder) History(now time.Time) []Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.step(now)
	all := make([]Span, 0, kept)
	for step := max(1, last-kept+1); step < last; step++ {
		p := &r.parts[step%kept]
		if p.step != step { // nobody came, and nobody looked
			p = &part{Counts: Counts{Connections: r.last.Connections, Usable: r.last.Usable}}
		}
		all = append(all, r.span(p, step, r.began(step+1)))
	}
	return all
}

func (r *Recorder) span(p *part, step int64, end time.Time) Span {
	at := r.began(step)
	return Span{Counts: p.Counts, At: at, Took: end.Sub(at), P50: p.times.quantile(0.5), P95: p.times.quantile(0.95), P99: p.times.quantile(0.99)}
}

func (r *Recorder) began(step int64) time.Time { return r.started.Add(time.Duration(step-1) * Step) }

func (c *Counts) add(more *Counts) {
	c.Served += more.Served
	c.Failed += more.Failed
	c.Refused += more.Refused
	c.Up += more.Up
	c.Down += more.Down
	c.Attempts += more.Attempts
	c.AttemptsFailed += more.AttemptsFailed
	c.Connections, c.Usable = more.Connections, more.Usable
}
