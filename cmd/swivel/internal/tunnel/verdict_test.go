package tunnel

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/attempts"
	"swivel/pool"
)

const firstByte = 10 * time.Second

// judge opens an exchange on a pool of one proxy, lets play call the verdict as
// a relay would, and returns what was made of it. It runs in a bubble of fake
// time.
func judge(t *testing.T, sent, probe bool, play func(*verdict)) pool.Attempt {
	t.Helper()
	specs, err := pool.ParseLine("127.0.0.1:1", nil)
	if err != nil {
		t.Fatal(err)
	}
	settings := breaker.DefaultSettings()
	settings.ProbeSuccesses = 1
	options := pool.Options{ProbeRate: 1e6, Breaker: settings}
	if probe {
		options.Restore = func(pool.ID) (breaker.Snapshot, bool) {
			past := time.Now().Add(-time.Minute)
			return breaker.Snapshot{State: breaker.Open, Generation: 2, OpensInRow: 1, NextTest: past, LastChange: past}, true
		}
	}
	p := pool.New(specs, options, time.Now())
	time.Sleep(time.Second) // the probe's token
	loop := attempts.New(p, attempts.Settings{Attempts: 1, ExchangeTimeout: time.Minute, FirstByte: firstByte, HedgeOff: true}, func([]pool.Event) {})
	defer loop.Close()
	x := loop.Begin(pool.Request{ID: "id", Target: "example.test:443"})
	_, lease, err := attempts.Run(context.Background(), x, attempts.Plan[int]{
		Try: func(context.Context, *pool.Lease) (int, error) { return 0, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	var early []byte
	if sent {
		early = []byte("?")
	}
	play(watchFirstByte(x, lease, early, firstByte, failover{}))
	synctest.Wait()
	return x.Attempts()[0]
}

// What a relay calls.
func asked(v *verdict)        { v.ask([]byte("?")) }
func answered(v *verdict)     { v.Received(nil) }
func upstreamEnds(v *verdict) { v.UpstreamEnded(nil) }

func TestVerdicts(t *testing.T) {
	const probe, early = true, true
	sleep := func(d time.Duration) func(*verdict) { return func(*verdict) { time.Sleep(d) } }
	for _, test := range []struct {
		name    string
		sent    bool
		play    []func(*verdict)
		signal  pool.Signal
		outcome breaker.Outcome // of an ordinary attempt
		probe   breaker.State   // after a probe with that end
	}{
		{"answer", false, []func(*verdict){asked, answered}, pool.FirstByte, breaker.Success, breaker.Closed},
		{"answer to early bytes", early, []func(*verdict){answered}, pool.FirstByte, breaker.Success, breaker.Closed},
		{"target speaks first", false, []func(*verdict){answered, upstreamEnds, (*verdict).Ended}, pool.FirstByte, breaker.Success, breaker.Closed},
		{"answer behind the client's FIN", false, []func(*verdict){asked, (*verdict).ClientEnded, answered}, pool.FirstByte, breaker.Success, breaker.Closed},
		{"closed when asked", false, []func(*verdict){asked, upstreamEnds}, pool.TunnelClosed, breaker.Ignored, breaker.Open},
		{"closed on early bytes", early, []func(*verdict){upstreamEnds}, pool.TunnelClosed, breaker.Ignored, breaker.Open},
		{"closed while the question was on its way", false, []func(*verdict){upstreamEnds, asked}, pool.TunnelClosed, breaker.Ignored, breaker.Open},
		{"closed, never asked", false, []func(*verdict){upstreamEnds, (*verdict).ClientEnded, (*verdict).Ended}, pool.TunnelUnused, breaker.Ignored, breaker.HalfOpen},
		{"silent", false, []func(*verdict){asked, sleep(2 * firstByte)}, pool.TunnelSilent, breaker.Ignored, breaker.Open},
		{"silent to early bytes", early, []func(*verdict){sleep(2 * firstByte)}, pool.TunnelSilent, breaker.Ignored, breaker.Open},
		{"asked late, answered in time", false, []func(*verdict){sleep(firstByte * 9 / 10), asked, sleep(firstByte * 9 / 10), answered}, pool.FirstByte, breaker.Success, breaker.Closed},
		{"asked late, silent", false, []func(*verdict){sleep(firstByte / 2), asked, sleep(firstByte * 11 / 10)}, pool.TunnelSilent, breaker.Ignored, breaker.Open},
		{"client leaves unanswered", false, []func(*verdict){asked, (*verdict).ClientEnded, upstreamEnds, (*verdict).Ended}, pool.ClientGone, breaker.Ignored, breaker.HalfOpen},
		{"client leaves, proxy stays silent", false, []func(*verdict){asked, (*verdict).ClientEnded, sleep(2 * firstByte)}, pool.ClientGone, breaker.Ignored, breaker.HalfOpen},
		{"ended here", false, []func(*verdict){asked, (*verdict).Ended}, pool.ClientGone, breaker.Ignored, breaker.HalfOpen},
		{"unused", false, []func(*verdict){(*verdict).ClientEnded, upstreamEnds, (*verdict).Ended}, pool.TunnelUnused, breaker.Ignored, breaker.Closed},
		{"unused for long", false, []func(*verdict){sleep(2 * firstByte)}, pool.TunnelUnused, breaker.Ignored, breaker.Closed},
		{"only the first counts", false, []func(*verdict){asked, answered, upstreamEnds, (*verdict).ClientEnded, (*verdict).Ended, sleep(2 * firstByte)}, pool.FirstByte, breaker.Success, breaker.Closed},
	} {
		all := func(v *verdict) {
			for _, call := range test.play {
				call(v)
			}
		}
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := judge(t, test.sent, !probe, all)
				if a.Signal != test.signal || a.Outcome != test.outcome {
					t.Errorf("%v/%v, want %v/%v", a.Signal, a.Outcome, test.signal, test.outcome)
				}
			})
		})
		t.Run(test.name+", as a probe", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := judge(t, test.sent, probe, all)
				if got := a.Proxy.Breaker().State(time.Now()); got != test.probe || !a.Probe || a.Signal != test.signal {
					t.Errorf("%v and %v, want %v and %v", a.Signal, got, test.signal, test.probe)
				}
			})
		})
	}
}
