package daemon

import (
	"context"
	"math"
	"path/filepath"
	"testing"
	"time"

	"swivel/storage/redis/redistest"
	"swivel/storage/sqlite"
)

// costRun is what a daemon took of the processor.
type costRun struct {
	perExchange time.Duration
	served      float64 // share of the exchanges
	rate        float64 // exchanges a second
}

// costSlices is how often the load of a pair goes from one daemon to the other:
// what else the machine does is then the same for both.
const costSlices = 20

// measureCost runs two daemons, one with what is measured on and one with it off,
// under a load of n exchanges each, in turn. It also returns how many transitions
// there were for each exchange of the one with it on.
func measureCost(t testing.TB, n int, with, without costSubject) (on, off costRun, transitions float64) {
	t.Helper()
	dir, daemons, runs := t.TempDir(), [2]*costDaemon{}, [2]costRun{}
	costUpstreams(t, dir)
	for i, subject := range []costSubject{with, without} {
		daemons[i] = startCost(t, dir, subject)
		costLoad(t, daemons[i].addr, n/costSlices) // to warm up
	}
	before := [2]time.Duration{daemons[0].used(t), daemons[1].used(t)}
	for slice := range costSlices {
		for i := range daemons {
			i ^= slice % 2 // who comes first may have it easier
			began := time.Now()
			served := costLoad(t, daemons[i].addr, n/costSlices)
			runs[i].served += float64(served) / float64(n)
			runs[i].rate += float64(n) / costSlices / time.Since(began).Seconds() / costSlices
		}
	}
	for i := range daemons { // what the journal wrote meanwhile is in it
		runs[i].perExchange = (daemons[i].used(t) - before[i]) / time.Duration(n)
		daemons[i].stop(t)
	}
	perExchange := float64(n) * (costSlices + 1) / costSlices
	return runs[0], runs[1], storedGenerations(t, filepath.Join(dir, with.db)) / perExchange
}

// storedGenerations adds up the generations of all breakers, which grow by one
// with each transition.
func storedGenerations(t testing.TB, path string) (sum float64) {
	t.Helper()
	store, _, err := sqlite.Open(context.Background(), path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	records, _, err := store.Load(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		sum += float64(r.Generation)
	}
	return sum
}

// TestDatabaseCostCanBeMeasured is the short form of BenchmarkDatabaseCost, and
// says nothing about the figure.
func TestDatabaseCostCanBeMeasured(t *testing.T) {
	on, off, transitions := measureCost(t, 1000, costSubject{db: "swivel.db"}, costSubject{})
	t.Logf("on %+v, off %+v, %.2f transitions per exchange", on, off, transitions)
	if min(on.perExchange, off.perExchange) <= 0 || min(on.served, off.served) < 0.9 {
		t.Error("nothing was measured")
	}
	if transitions < 0.05 {
		t.Error("that is no storm")
	}
}

// BenchmarkDatabaseCost compares the processor time per exchange with the
// database on and off, under a storm of transitions, in ten pairs. x is the
// ratio, with the bounds of its 95 % confidence interval; it should be at most
// 1.03.
func BenchmarkDatabaseCost(b *testing.B) {
	compareCosts(b, costSubject{db: "swivel.db"}, costSubject{})
}

// BenchmarkFleetCost is BenchmarkDatabaseCost for a daemon that is in a fleet,
// where both have a database. The fleet's server runs beside them.
func BenchmarkFleetCost(b *testing.B) {
	server := redistest.Start(b)
	compareCosts(b, costSubject{db: "on.db", fleet: server.URL()}, costSubject{db: "off.db"})
}

func compareCosts(b *testing.B, with, without costSubject) {
	const pairs, n = 10, 20_000
	for range b.N {
		var logs []float64
		var transitions float64
		for range pairs {
			var on, off costRun
			on, off, transitions = measureCost(b, n, with, without)
			ratio := float64(on.perExchange) / float64(off.perExchange)
			logs = append(logs, math.Log(ratio))
			b.Logf("%.3f: on %v, off %v; %.0f/s, %.1f %% served", ratio, on.perExchange, off.perExchange, on.rate, 100*on.served)
		}
		low, middle, high := interval(logs)
		b.ReportMetric(math.Exp(middle), "x")
		b.ReportMetric(math.Exp(low), "x-low")
		b.ReportMetric(math.Exp(high), "x-high")
		b.ReportMetric(transitions, "transitions/op")
	}
}

// interval is the mean of ten values, and the 95 % confidence interval around
// it: Student's t with nine degrees of freedom.
func interval(values []float64) (low, mean, high float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	var squares float64
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	n := float64(len(values))
	half := 2.262 * math.Sqrt(squares/(n-1)/n)
	return mean - half, mean, mean + half
}
