package breaker_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"swivel/breaker"
)

func BenchmarkAcquireReport(b *testing.B) {
	br := breaker.New(breaker.DefaultSettings(), rand.Float64)
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		p, _, _ := br.Acquire(now, lease)
		br.Report(p, breaker.Verdict{Outcome: breaker.Success}, now)
	}
}

func BenchmarkAcquireReportParallel(b *testing.B) {
	br := breaker.New(breaker.DefaultSettings(), rand.Float64)
	now := time.Now()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			p, _, _ := br.Acquire(now, lease)
			br.Report(p, breaker.Verdict{Outcome: breaker.Success}, now)
		}
	})
}

func BenchmarkReady(b *testing.B) {
	now := time.Now()
	closed := breaker.New(breaker.DefaultSettings(), rand.Float64)
	open := breaker.New(breaker.DefaultSettings(), rand.Float64)
	p, _, _ := open.Acquire(now, lease)
	open.Report(p, breaker.Verdict{Outcome: breaker.Refused}, now)
	for name, br := range map[string]*breaker.Breaker{"closed": closed, "open": open} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				br.Ready(now)
			}
		})
	}
}
