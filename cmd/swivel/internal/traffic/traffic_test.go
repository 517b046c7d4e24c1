package traffic

import (
	"testing"
	"time"

	"swivel/cmd/swivel/internal/eventlog"
)

var epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestRequestsAreCountedByWhoIsToBlame(t *testing.T) {
	r := New(epoch)
	for _, x := range []eventlog.Exchange{
		{Status: 200, Opened: time.Millisecond, Up: 10, Down: 100},
		{Status: 404, Opened: time.Millisecond, Down: -1},
		{Status: 502, Code: "attempts_spent"},
		{Status: 503, Code: "no_proxy"},
		{Status: 504, Code: "timeout"},
		{Status: 407, Code: "auth_required"},
		{Status: 501, Code: "bad_request"},
		{Status: 499, Code: "client_gone"},
		{Status: 499}, // so a target may say too
	} {
		r.Exchange(&x, epoch.Add(time.Second))
	}
	got := r.Last(time.Minute, epoch.Add(2*time.Second))
	want := Counts{Served: 3, Failed: 3, Refused: 3, Up: 10, Down: 100}
	if got.Counts != want || got.Took != 2*time.Second {
		t.Errorf("%+v in %v", got.Counts, got.Took)
	}
	var none *Recorder
	none.Exchange(&eventlog.Exchange{}, epoch)
}

// A 503 that the target sent is an answer of the target.
func TestWhatTargetsAnswerIsServed(t *testing.T) {
	r := New(epoch)
	r.Exchange(&eventlog.Exchange{Status: 503, Opened: time.Millisecond}, epoch)
	if got := r.Last(time.Minute, epoch); got.Served != 1 || got.Failed != 0 {
		t.Errorf("%+v", got)
	}
}

func TestTheRecordForgets(t *testing.T) {
	r := New(epoch)
	served := func(at time.Duration) { r.Exchange(&eventlog.Exchange{Status: 200}, epoch.Add(at)) }
	served(0)
	served(25 * time.Second)
	if got := r.Last(time.Minute, epoch.Add(30*time.Second)); got.Served != 2 || got.Took != 30*time.Second {
		t.Errorf("%+v", got)
	}
	if got := r.Last(time.Minute, epoch.Add(62*time.Second)); got.Served != 1 || got.Took != 52*time.Second || !got.At.Equal(epoch.Add(10*time.Second)) {
		t.Errorf("%+v", got)
	}
	all := r.History(epoch.Add(42 * time.Second))
	if len(all) != 4 || all[0].Served != 1 || all[1].Served != 0 || all[2].Served != 1 || all[2].Took != Step {
		t.Errorf("%+v", all)
	}
	served(kept*Step + 5*time.Second) // the place of the first
	all = r.History(epoch.Add((kept+1)*Step + 5*time.Second))
	if len(all) != kept-1 || all[len(all)-1].Served != 1 || all[0].Served != 1 || !all[0].At.Equal(epoch.Add(2*Step)) {
		t.Errorf("%d steps, from %v: %+v", len(all), all[0].At, all[0])
	}
	if got := r.Last(time.Minute, epoch.Add(24*time.Hour)); got.Counts != (Counts{}) {
		t.Errorf("a day later: %+v", got)
	}
}

func TestSamplesAreKeptUntilTheNext(t *testing.T) {
	r := New(epoch)
	r.Sample(Gauges{Connections: 7, Usable: 0.5, Attempts: 100, AttemptsFailed: 30}, epoch)
	r.Sample(Gauges{Connections: 8, Usable: 0.25, Attempts: 150, AttemptsFailed: 31}, epoch.Add(Step))
	all := r.History(epoch.Add(3 * Step))
	for i, want := range []Counts{
		{Connections: 7, Usable: 0.5, Attempts: 100, AttemptsFailed: 30}, {Connections: 8, Usable: 0.25, Attempts: 50, AttemptsFailed: 1}, {Connections: 8, Usable: 0.25},
	} {
		if all[i].Counts != want {
			t.Errorf("step %d: %+v", i, all[i].Counts)
		}
	}
}

func TestQuantilesAreWithinATwentieth(t *testing.T) {
	var some times
	if got := some.quantile(0.5); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
	for i := range 1000 {
		some.add(time.Duration(i+1) * time.Millisecond)
	}
	for q, want := range map[float64]time.Duration{0.5: 500 * time.Millisecond, 0.95: 950 * time.Millisecond, 0.99: 990 * time.Millisecond} {
		if got := some.quantile(q); got < want*95/100 || got > want*105/100 {
			t.Errorf("%v: %v, want %v", q, got, want)
		}
	}
	for _, odd := range []time.Duration{1, time.Hour} {
		var one times
		one.add(odd) // no class is meant for it
		if one.quantile(1) == 0 {
			t.Errorf("%v is lost", odd)
		}
	}
}

func BenchmarkExchange(b *testing.B) {
	r, x := New(time.Now()), eventlog.Exchange{Status: 200, Opened: 12 * time.Millisecond, Up: 1, Down: 2}
	b.ReportAllocs()
	for b.Loop() {
		r.Exchange(&x, time.Now())
	}
}
