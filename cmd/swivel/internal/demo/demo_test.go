package demo_test

import (
	"errors"
	"math"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/config"
	"swivel/cmd/swivel/internal/demo"
	"swivel/pool/upstream/leaktest"
)

// clock is flaky's, moved by hand.
type clock struct{ offset atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(1e9, 0).Add(time.Duration(c.offset.Load())) }
func (c *clock) advance(d time.Duration) { c.offset.Add(int64(d)) }

func TestEveryRequestIsAnsweredInTheSharesOfTheWeights(t *testing.T) {
	r := newRig(t, demo.Options{Now: (&clock{}).now}, nil)
	const n = 600
	seen := map[string]int{}
	for range n {
		seen[r.get(t, "http://swivel.test/")]++ // which fails the test when it is no 200
	}
	weights := map[string]float64{"slow": 1, "good": 2, "better": 3}
	for name, weight := range weights {
		share := weight / 6
		spread := 5 * math.Sqrt(n*share*(1-share)) // once in a million runs
		if got, want := float64(seen[name]), n*share; math.Abs(got-want) > spread {
			t.Errorf("%s answered %v times, want about %v", name, got, want)
		}
		delete(seen, name)
	}
	if len(seen) > 0 {
		t.Errorf("answers of toys that are out of order: %v", seen)
	}
}

func TestBreakersOfDeadAndFlakyOpenAfterThreeFailures(t *testing.T) {
	r := newRig(t, demo.Options{Now: (&clock{}).now}, nil)
	r.requestUntil(t, "dead and flaky open", func(string) bool {
		return r.state(t, "dead") == breaker.Open && r.state(t, "flaky") == breaker.Open
	})
	for range 50 { // which would meet them, were they not left alone
		r.get(t, "http://swivel.test/")
	}
	r.close()
	log := r.log.String()
	for _, signal := range []string{"dial_refused", "handshake_gateway"} {
		if n := strings.Count(log, `"signal":"`+signal+`","outcome":"failure"`); n != 3 {
			t.Errorf("%d attempts ended with %s, want three", n, signal)
		}
	}
	if n := strings.Count(log, `"to":"open","rule":"run"`); n != 2 {
		t.Errorf("%d breakers opened, want two", n)
	}
}

func TestFlakyRecoversWhenItsTimeIsOver(t *testing.T) {
	var c clock
	r := newRig(t, demo.Options{Now: c.now}, func(cfg *config.Config) {
		cfg.Breaker.OpenTimeout = config.Duration(20 * time.Millisecond)
		cfg.Breaker.MaxOpenTimeout = cfg.Breaker.OpenTimeout
		cfg.Restart.ProbeRate = 1000
	})
	r.requestUntil(t, "both open", func(answer string) bool {
		if answer == "flaky" {
			t.Fatal("flaky answered before its time was over")
		}
		return r.state(t, "dead") != breaker.Closed && r.state(t, "flaky") != breaker.Closed
	})
	c.advance(time.Minute)
	answered := false
	r.requestUntil(t, "flaky is closed and answers", func(answer string) bool {
		answered = answered || answer == "flaky"
		return answered && r.state(t, "flaky") == breaker.Closed
	})
	if s := r.state(t, "dead"); s == breaker.Closed {
		t.Error("dead recovered, too")
	}
}

func TestDeadKeepsItsPortAndRefuses(t *testing.T) {
	d, err := demo.Start(t.Context(), demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	specs := d.Specs()
	address := specs[0].Address()
	if specs[0].Name != "dead" {
		t.Fatalf("the first toy is %s", specs[0].Name)
	}
	if _, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dial: %v, want connection refused", err)
	}
	if ln, err := net.Listen("tcp", address); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("listen: %v, %v, want address in use", ln, err)
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	leaktest.Watch(t)
	r := newRig(t, demo.Options{FlakyFor: time.Nanosecond}, nil)
	for range 20 {
		r.get(t, "http://swivel.test/")
		r.get(t, "https://swivel.test/")
	}
	specs, caFile := r.toys.Specs(), r.toys.CAFile()
	idle, err := net.Dial("tcp", specs[3].Address()) // a client that says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = idle.Close() }()
	r.close()
	if _, err := os.Stat(caFile); !os.IsNotExist(err) {
		t.Errorf("the certificate is still there: %v", err)
	}
	for i := range specs {
		if conn, err := net.Dial("tcp", specs[i].Address()); err == nil {
			_ = conn.Close()
			t.Errorf("%s still listens", specs[i].Name)
		}
	}
}
