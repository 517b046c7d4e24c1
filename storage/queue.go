package storage

import (
	"container/list"
	"time"
)

// entry is a record on its way to the store.
type entry struct {
	record Record
	due    time.Time // when its write may start
	urgent bool
}

// queue holds the newest unwritten record of each proxy, so its size is bounded
// by the number of proxies however long the store is away. Urgent records wait
// in a line of their own: a transition must not stand behind the hundred
// thousand others that a restart touched. The zero queue is not usable.
type queue struct {
	byID   map[string]*list.Element // of *entry
	urgent *list.List
	others *list.List
}

func newQueue() *queue {
	return &queue{byID: make(map[string]*list.Element), urgent: list.New(), others: list.New()}
}

func (q *queue) len() int { return len(q.byID) }

// put takes a record in place of an older one of the same proxy, which lends it
// its place: a record that changes all the time is written all the same.
func (q *queue) put(e entry) {
	at, ok := q.byID[e.record.ProxyID]
	if !ok {
		fresh := e // allocated here only, not for every replacement
		q.byID[e.record.ProxyID] = q.line(e.urgent).PushBack(&fresh)
		return
	}
	old := at.Value.(*entry)
	old.record = e.record
	old.due = earlier(old.due, e.due)
	if e.urgent && !old.urgent {
		q.promote(at, old)
	}
}

func (q *queue) promote(at *list.Element, e *entry) {
	q.others.Remove(at)
	e.urgent = true
	q.byID[e.record.ProxyID] = q.urgent.PushBack(e)
}

// due returns the time of the next write; ok is false if there is none to do.
func (q *queue) due() (at time.Time, ok bool) {
	for _, line := range []*list.List{q.urgent, q.others} {
		if front := line.Front(); front != nil {
			if e := front.Value.(*entry); !ok || e.due.Before(at) {
				at, ok = e.due, true
			}
		}
	}
	return at, ok
}

// takeDue removes up to limit records to write now: the urgent ones, and if the
// turn of the others has come, as many of those as fit. A turn takes along the
// ones that are not due yet, which saves transactions.
func (q *queue) takeDue(now time.Time, limit int) []*entry {
	taken := q.take(q.urgent, nil, limit)
	if front := q.others.Front(); front != nil && !front.Value.(*entry).due.After(now) {
		taken = q.take(q.others, taken, limit)
	}
	return taken
}

// takeAll removes every record, the urgent ones first.
func (q *queue) takeAll() []*entry {
	all := make([]*entry, 0, q.len())
	all = q.take(q.urgent, all, cap(all))
	return q.take(q.others, all, cap(all))
}

func (q *queue) take(line *list.List, taken []*entry, limit int) []*entry {
	for front := line.Front(); front != nil && len(taken) < limit; front = line.Front() {
		e := line.Remove(front).(*entry)
		delete(q.byID, e.record.ProxyID)
		taken = append(taken, e)
	}
	return taken
}

// giveBack returns records that could not be written to the head of their
// lines. Where a newer one has arrived since, that one stays, and inherits the
// urgency and the age.
func (q *queue) giveBack(entries []*entry) {
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		at, ok := q.byID[e.record.ProxyID]
		if !ok {
			q.byID[e.record.ProxyID] = q.line(e.urgent).PushFront(e)
			continue
		}
		newer := at.Value.(*entry)
		newer.due = earlier(newer.due, e.due)
		if e.urgent && !newer.urgent {
			q.promote(at, newer)
		}
	}
}

func (q *queue) line(urgent bool) *list.List {
	if urgent {
		return q.urgent
	}
	return q.others
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
