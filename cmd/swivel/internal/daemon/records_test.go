package daemon

import (
	"reflect"
	"testing"
	"time"

	"swivel/breaker"
)

// TestEverythingOfABreakerIsStored drives three breakers into states that
// together leave no field of a snapshot empty, and compares what comes back
// from the file.
func TestEverythingOfABreakerIsStored(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=closed", "127.0.0.1:2 name=open", "127.0.0.1:3 name=probed", "127.0.0.1:4 name=new")
	r.cfg.Breaker.OpenTimeout, r.cfg.Breaker.Jitter = 1, 0 // due at once
	r.start()
	r.drive()
	names := []string{"closed", "open", "probed", "new"}
	var want []breaker.Snapshot
	for _, name := range names {
		want = append(want, r.snapshot(name))
	}
	r.restart()
	filled := map[string]bool{}
	for i, name := range names {
		got := r.snapshot(name)
		for f, fields := 0, reflect.TypeFor[breaker.Snapshot](); f < fields.NumField(); f++ {
			field := fields.Field(f).Name
			was, is := reflect.ValueOf(want[i]).Field(f), reflect.ValueOf(got).Field(f)
			filled[field] = filled[field] || !was.IsZero()
			if field != "Generation" && !same(was, is) {
				t.Errorf("%s: %s is %v, was %v", name, field, is, was)
			}
		}
		if got.Generation == want[i].Generation {
			t.Errorf("%s: results from before the restart still count", name)
		}
	}
	for f := range reflect.TypeFor[breaker.Snapshot]().NumField() {
		if field := reflect.TypeFor[breaker.Snapshot]().Field(f).Name; !filled[field] {
			t.Errorf("no breaker had any %s: this test does not see whether it is stored", field)
		}
	}
}

// drive gives the proxies of the test different pasts.
func (r *rig) drive() {
	failure, success := breaker.Verdict{Outcome: breaker.Failure}, breaker.Verdict{Outcome: breaker.Success}
	suspicion := breaker.Verdict{Outcome: breaker.Failure, Suspected: true}
	for _, v := range []breaker.Verdict{success, failure, failure, success, failure, failure, suspicion, suspicion} {
		r.report("closed", v)
	}
	for range 3 {
		r.report("open", failure)
		r.report("probed", failure)
	}
	r.report("probed", failure) // a probe: the second opening in a row
	r.report("probed", success)
	r.report("open", breaker.Verdict{Outcome: breaker.Refused})
	r.report("new", failure)
	r.report("new", failure)
}

// same compares times to what is stored of them, a microsecond, and some that
// were rounded on the way through the daemon's own clock.
func same(a, b reflect.Value) bool {
	switch x := a.Interface().(type) {
	case time.Time:
		return x.IsZero() == b.Interface().(time.Time).IsZero() && x.Sub(b.Interface().(time.Time)).Abs() < 5*time.Millisecond
	case breaker.State: // a half-open one is due again
		return x == b.Interface() || x == breaker.HalfOpen && b.Interface() == breaker.Open
	case []time.Time:
		return sameList(x, b.Interface().([]time.Time), func(x, y time.Time) bool { return x.Sub(y).Abs() < 5*time.Millisecond })
	case []breaker.Tally:
		// Which of two buckets it is in may change, what they add up to not.
		return reflect.DeepEqual(sum(x), sum(b.Interface().([]breaker.Tally)))
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

func sum(tallies []breaker.Tally) (s [2]int) {
	for _, t := range tallies {
		s[0], s[1] = s[0]+t.Successes, s[1]+t.Failures
	}
	return s
}

func sameList[T any](a, b []T, same func(T, T) bool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !same(a[i], b[i]) {
			return false
		}
	}
	return true
}
