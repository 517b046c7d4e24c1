package rounds

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"swivel/cmd/swivel-bench/internal/peer"
	"swivel/cmd/swivel-bench/internal/process"
	"swivel/cmd/swivel-bench/internal/stats"
)

var twoColumns = Workload{Name: "test", Title: "a load", Columns: []Column{{"CPU µs/op", 1}, {"ops/s", 0}}}

func TestTableHasMediansAndRatiosOfRounds(t *testing.T) {
	r := Result{Workload: twoColumns, Rows: []Row{
		{Name: "swivel", Rounds: [][]float64{{100, 9000}, {400, 2000}, {110, 8000}}},
		{Name: "squid", Rounds: [][]float64{{200, 5000}, {800, 1000}, {200, 4000}}},
		{Name: "haproxy", Rounds: [][]float64{nil, {400, 2500}, {100, 9500}}, Err: errors.New("it broke")},
		{Name: "gone", Rounds: [][]float64{nil, nil, nil}, Err: errors.New("no memory")},
	}}
	var out strings.Builder
	if err := r.Print(&out); err != nil {
		t.Fatal(err)
	}
	want := `a load

           CPU µs/op  ops/s  swivel is times this
   swivel      110.0   8000                      
    squid      200.0   4000      0.50 (0.50-0.55)
  haproxy      250.0   6000      1.05 (1.00-1.10)
     gone          -      -                     -
haproxy failed in some round: it broke
gone failed in some round: no memory

`
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
	if !r.Failed() || (&Result{Rows: r.Rows[:2]}).Failed() {
		t.Error("who failed is not told")
	}
	if got := r.Ratio(1); got != (stats.Ratio{Median: .5, Low: .5, High: .55}) {
		t.Errorf("%+v", got)
	}
}

func TestProxyThatFailsDoesNotEndTheComparison(t *testing.T) {
	b := Bench{Rounds: 2, Log: io.Discard, Setting: peer.Setting{Dir: t.TempDir(), Upstreams: []int{1}},
		Kinds: []peer.Kind{peer.Swivel("swivel", "/bin/false", process.As{})}}
	for _, w := range Workloads(Amounts{Tunnels: 1, Plain: 1, Bulk: 1, Idle: 1}) {
		r, err := b.Run(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Failed() || len(r.Rows) != 1 || len(r.Rows[0].Rounds) != 2 || r.Rows[0].Rounds[0] != nil {
			t.Errorf("%s: %+v", w.Name, r.Rows)
		}
	}
}

func TestComparisonEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := Bench{Rounds: 1000, Log: io.Discard}
	for _, w := range Workloads(Amounts{}) {
		if _, err := b.Run(ctx, w); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", w.Name, err)
		}
	}
}

func TestWhoIsCompared(t *testing.T) {
	other := peer.Swivel("swivel as nobody", "swivel", process.As{UID: 1})
	b := Bench{Kinds: append([]peer.Kind{peer.Swivel("swivel", "swivel", process.As{})}, peer.Others(process.As{})...), Other: &other}
	for _, w := range Workloads(Amounts{}) {
		var names []string
		for _, k := range b.kinds(w) {
			names = append(names, k.Name)
		}
		want := []string{"swivel", peer.HAProxyTCP, peer.Squid, peer.Tinyproxy}
		switch w.Name {
		case "plain":
			want = slices.Insert(want, 2, peer.HAProxyHTTP)
		case "bulk", "bulk-many":
			want = slices.Insert(want, 1, "swivel as nobody")
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s: %q, want %q", w.Name, names, want)
		}
	}
}

func TestSettle(t *testing.T) {
	readings := []float64{0, 50, 90, 99, 99.5, 99.6}
	next := 0
	read := func() (float64, error) { next++; return readings[min(next, len(readings))-1], nil }
	if last, err := settle(t.Context(), time.Millisecond, time.Minute, 1, read); last != 99.5 || err != nil {
		t.Errorf("%v, %v", last, err)
	}
	grows := 0.
	if _, err := settle(t.Context(), time.Millisecond, 30*time.Millisecond, 1, func() (float64, error) { grows += 5; return grows, nil }); grows < 10 || err != nil {
		t.Errorf("%v, %v", grows, err)
	}
	broken := errors.New("gone")
	if _, err := settle(t.Context(), time.Millisecond, time.Minute, 1, func() (float64, error) { return 0, broken }); err != broken {
		t.Error(err)
	}
}
