package load

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// pacedFor runs a load of operations that take so long for ten seconds.
func pacedFor(t *testing.T, clients int, rate float64, do func(context.Context, *Client) error) *Tally {
	t.Helper()
	var tally Tally
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		NewCrowd(clients, "nowhere", do).Paced(ctx, rate, &tally)
	})
	return &tally
}

func takes(d time.Duration) func(context.Context, *Client) error {
	return func(context.Context, *Client) error { time.Sleep(d); return nil }
}

func TestPacedDoesAsManyAsAreAskedFor(t *testing.T) {
	tally := pacedFor(t, 4, 100, takes(30*time.Millisecond))
	if done := tally.Done.Load(); done < 999 || done > 1004 || tally.Skipped.Load() != 0 || tally.Failed.Load() != 0 {
		t.Errorf("%d done, %d skipped, %d failed", done, tally.Skipped.Load(), tally.Failed.Load())
	}
}

func TestPauseOfTheMachineIsNoBurst(t *testing.T) {
	first := true
	tally := pacedFor(t, 1, 100, func(context.Context, *Client) error {
		if first {
			first = false
			time.Sleep(5 * time.Second)
		}
		return nil
	})
	done, skipped := tally.Done.Load(), tally.Skipped.Load()
	if done < 500 || done > 503 || done+skipped < 999 || done+skipped > 1002 {
		t.Errorf("%d done, %d skipped", done, skipped)
	}
}

func TestTallyKeepsTheFirstError(t *testing.T) {
	n := 0
	tally := pacedFor(t, 1, 10, func(context.Context, *Client) error {
		if n++; n%2 == 0 {
			return fmt.Errorf("number %d", n)
		}
		return nil
	})
	if tally.Failed.Load() < 49 || tally.First().Error() != "number 2" {
		t.Errorf("%d failed, the first: %v", tally.Failed.Load(), tally.First())
	}
	if err := (&Tally{}).First(); !errors.Is(err, nil) {
		t.Error(err)
	}
}
