package fleet_test

import (
	"context"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/storage"
)

// told lets time go by and counts how often proxies are told of.
func (r *rig) told(d time.Duration) (n int) {
	for end := r.now.Add(d); r.now.Before(end); r.now = r.now.Add(10 * time.Millisecond) {
		for _, one := range r.nodes {
			if one.now().Before(one.Next()) {
				continue
			}
			s := one.Ask(one.now())
			n += len(s.Known)
			s.Now = storage.Moment(r.now.UnixMicro())
			answer, err := r.hub.Sync(context.Background(), s)
			if err != nil {
				r.t.Fatal(err)
			}
			one.Hear(answer, one.now(), one.now())
		}
	}
	return n
}

// TestFirstSuccessOfAProxyIsNotNews: a fleet that begins to use a long list told
// of every proxy on it, each instance as many times as it heard of it.
func TestFirstSuccessOfAProxyIsNotNews(t *testing.T) {
	r := newRig(t, 5, "p")
	for _, n := range r.nodes {
		n.breakers["q"], n.ids = breaker.New(settings(), nil), append(n.ids, "q")
	}
	r.nodes[0].attempt("q", breaker.Success)
	if n := r.told(3 * time.Second); n > 0 {
		t.Errorf("told %d times", n)
	}
}

// TestWhatWasHeardIsNotToldAgain: the success that ends a run is told by the one
// that had it, although it ends the run at all.
func TestWhatWasHeardIsNotToldAgain(t *testing.T) {
	r := newRig(t, 5, "p")
	r.nodes[0].attempt("p", breaker.Failure)
	r.told(2 * time.Second)
	r.nodes[1].attempt("p", breaker.Success)
	if n := r.told(3 * time.Second); n != 1 {
		t.Errorf("told %d times, want once", n)
	}
}

// TestWhatAllFindOutIsToldByFew: five failures at five instances open the breakers of
// all thirty, each by itself and until another time. All of them told that, and each
// heard it from all.
func TestWhatAllFindOutIsToldByFew(t *testing.T) {
	r := newRig(t, 30, "p")
	for _, n := range r.nodes[:5] {
		n.attempt("p", breaker.Failure)
	}
	if n := r.told(15 * time.Second); n > 5+5+3 {
		t.Errorf("told %d times", n)
	}
	r.want("p", breaker.Open)
}
