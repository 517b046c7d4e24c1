package daemon

import (
	"testing"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/feed"
	"swivel/pool"
)

func TestFeedTellsWhatHappensToThePool(t *testing.T) {
	r := newRig(t, "127.0.0.1:1 name=a", "127.0.0.1:2 name=b")
	r.start()
	a := r.proxy("a")
	r.report("a", breaker.Verdict{Outcome: breaker.Refused})
	if err := r.Pause([]*pool.Proxy{a}, pool.Pause{Reason: "why", By: "me", At: time.Now(), Drain: true}); err != nil {
		t.Fatal(err)
	}
	if err := r.Resume([]*pool.Proxy{a}, "me"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reload(); err != nil {
		t.Fatal(err)
	}
	events, _, _ := r.Feed().Listen(0)
	if len(events) != 4 {
		t.Fatalf("%+v", events)
	}
	for i, want := range []feed.Event{
		{Kind: feed.Transition, Proxy: string(a.ID), Name: "a", From: "closed", To: "open", Rule: "refused"},
		{Kind: feed.Drained, Proxy: string(a.ID), Name: "a", Reason: "why", By: "me"},
		{Kind: feed.Resumed, Proxy: string(a.ID), Name: "a", By: "me"},
		{Kind: feed.Reload, Reason: "0 added, 2 kept, 0 removed, 0 lines skipped"},
	} {
		got := events[i]
		if age := time.Since(time.UnixMilli(int64(got.At * 1000))); age < -time.Second || age > patience {
			t.Errorf("%s was %v ago", got.Kind, age)
		}
		if rest := got.Until - got.At; i == 0 && (rest < 890 || rest > 1000) {
			t.Errorf("rests for %v s", rest)
		}
		got.ID, got.At, got.Until = 0, 0, 0
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
