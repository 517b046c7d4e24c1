package breaker

import "time"

// buckets is how many parts a window has. It moves on by whole ones: an outcome
// leaves it when it is between eleven twelfths of Settings.Window and all of it old.
const buckets = 12

// tally is how many outcomes there were, and how many of them were failures.
type tally struct{ total, failures uint32 }

// rate is the share of failures, 0 if there was nothing.
func (t tally) rate() float64 {
	if t.total == 0 {
		return 0
	}
	return float64(t.failures) / float64(t.total)
}

func (t *tally) add(failed bool) {
	t.total++
	if failed {
		t.failures++
	}
}

// window counts the outcomes of the last so long. Counting and asking take the
// same time however many there are.
//
// The buckets begin with the first outcome of an empty window, not with the
// origin of time: so one that is stored and restored goes on exactly.
type window struct {
	width  time.Duration // of a bucket
	began  instant       // the newest bucket
	parts  [buckets]tally
	sum    tally // of all parts
	newest uint8 // index of the newest part
}

func newWindow(length time.Duration) window {
	return window{width: max(length/buckets, 1)}
}

// at returns what the window holds at an instant. Instants earlier than others
// before them, as clocks of several callers may yield, do not turn it back.
func (w *window) at(i instant) tally {
	w.turn(i)
	return w.sum
}

func (w *window) add(i instant, failed bool) {
	w.turn(i)
	if w.sum.total == 0 {
		w.began = i
	}
	w.parts[w.newest].add(failed)
	w.sum.add(failed)
}

// turn drops the buckets that are too old.
func (w *window) turn(i instant) {
	if w.sum.total == 0 || i < w.began.add(w.width) {
		return
	}
	steps := int64(w.began.until(i) / w.width)
	w.began = w.began.add(time.Duration(steps) * w.width)
	for range min(steps, buckets) {
		w.newest = (w.newest + 1) % buckets
		w.sum.total -= w.parts[w.newest].total
		w.sum.failures -= w.parts[w.newest].failures
		w.parts[w.newest] = tally{}
	}
}

func (w *window) clear() { *w = window{width: w.width} }

// part returns the bucket that is age buckets older than the newest, and when
// it began.
func (w *window) part(age int) (*tally, instant) {
	return &w.parts[(int(w.newest)-age+buckets)%buckets], w.began - instant(age)*instant(w.width)
}

// ends returns when a bucket that began then leaves the window.
func (w *window) ends(began instant) instant { return began.add(buckets * w.width) }

// thins returns when the window, unless there is another outcome, is going to
// hold no more than so many; it holds more now.
func (w *window) thins(to uint32) instant {
	var held uint32
	for age := range buckets {
		t, began := w.part(age)
		if held += t.total; held > to {
			return w.ends(began)
		}
	}
	return never
}
