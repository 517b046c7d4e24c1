package breaker_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"swivel/breaker"
)

// lives are breakers as they are met in use.
func lives(now time.Time) map[string]*breaker.Breaker {
	sound := breaker.New(breaker.DefaultSettings(), rand.Float64)
	open := breaker.New(breaker.DefaultSettings(), rand.Float64)
	flaky := breaker.New(breaker.DefaultSettings(), rand.Float64)
	for i := range 100 {
		v := breaker.Verdict{}
		if i%4 == 3 {
			v.Outcome = breaker.Failure
		}
		p, _, _ := flaky.Acquire(now, lease)
		flaky.Report(p, v, now)
	}
	p, _, _ := open.Acquire(now, lease)
	open.Report(p, breaker.Verdict{Outcome: breaker.Refused}, now)
	return map[string]*breaker.Breaker{"sound": sound, "open": open, "flaky": flaky}
}

// BenchmarkAcquireReport is a whole attempt; every fourth of a flaky proxy fails.
func BenchmarkAcquireReport(b *testing.B) {
	for _, name := range []string{"sound", "flaky"} {
		b.Run(name, func(b *testing.B) {
			now := time.Now()
			br := lives(now)[name]
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				v := breaker.Verdict{}
				if name == "flaky" && i%4 == 3 {
					v.Outcome = breaker.Failure
				}
				p, _, _ := br.Acquire(now, lease)
				br.Report(p, v, now)
				now = now.Add(10 * time.Millisecond)
			}
		})
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
	for name, br := range lives(now) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				br.Ready(now)
			}
		})
	}
}

func BenchmarkFactor(b *testing.B) {
	now := time.Now()
	for name, br := range lives(now) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				br.Factor(now)
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		breaker.New(breaker.DefaultSettings(), rand.Float64)
	}
}
