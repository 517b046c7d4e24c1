package daemon

import (
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"swivel/storage/redis/redistest"
)

// BenchmarkFleetLatency compares how long exchanges take in a fleet whose server
// is well, stopped, gone, emptied, read-only or full with how long they take without a fleet, in ten
// pairs each. The figures are ratios of the 99th percentiles, medians of the
// pairs; they should be at most 1.1.
func BenchmarkFleetLatency(b *testing.B) {
	const pairs, n = 10, 4000
	server, dir := redistest.Start(b), b.TempDir()
	costUpstreams(b, dir)
	on, off := startCost(b, dir, costSubject{db: "on.db", fleet: server.URL()}), startCost(b, dir, costSubject{db: "off.db"})
	defer on.stop(b)
	defer off.stop(b)
	bothSlowest(b, on, off, n) // to warm up
	for _, c := range []struct {
		name        string
		spoil, mend func()
	}{
		{"well", func() {}, func() {}},
		{"stopped", server.Stop, server.Go},
		{"gone", server.Kill, server.Restart},
		{"emptied", func() { server.Do("FLUSHALL") }, func() {}},
		{"a-replica", func() { server.Do("REPLICAOF", "127.0.0.1", "1") }, func() { server.Do("REPLICAOF", "NO", "ONE") }},
		{"full", func() { server.Do("CONFIG", "SET", "maxmemory", "1") }, func() {}},
	} {
		c.spoil()
		bothSlowest(b, on, off, n) // until it has found out
		var ratios []float64
		for range pairs {
			with, without := bothSlowest(b, on, off, n)
			ratios = append(ratios, float64(with)/float64(without))
			b.Logf("%s: p99 %v, without a fleet %v", c.name, with, without)
		}
		c.mend()
		slices.Sort(ratios)
		b.ReportMetric(math.Sqrt(ratios[pairs/2-1]*ratios[pairs/2]), c.name+"-x")
	}
}

// bothSlowest is slowest for two daemons at the same time: what else the machine
// does then meets both.
func bothSlowest(t testing.TB, on, off *costDaemon, n int) (with, without time.Duration) {
	var both sync.WaitGroup
	both.Go(func() { with = slowest(t, on.addr, n) })
	both.Go(func() { without = slowest(t, off.addr, n) })
	both.Wait()
	return with, without
}

// slowest makes n exchanges through the daemon, and returns the 99th percentile
// of the times of those that were served.
func slowest(t testing.TB, addr string, n int) time.Duration {
	t.Helper()
	var mu sync.Mutex
	var times []time.Duration
	var clients sync.WaitGroup
	for client := range costClients / 2 {
		clients.Go(func() {
			for i := client; i < n; i += costClients / 2 {
				began := time.Now()
				ok, err := costExchange(addr, int64(i))
				if err != nil {
					t.Error(err)
					return
				}
				if ok {
					mu.Lock()
					times = append(times, time.Since(began))
					mu.Unlock()
				}
			}
		})
	}
	clients.Wait()
	if len(times) == 0 {
		t.Error("nothing was served")
		return 1
	}
	slices.Sort(times)
	return times[len(times)*99/100]
}
