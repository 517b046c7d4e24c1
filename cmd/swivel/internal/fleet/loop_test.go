package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/fleet"
	"swivel/storage"
	"swivel/storage/storetest"
)

// hub is one that a test can break, slow down and whose clock it can set.
type hub struct {
	*storetest.Hub
	mu    sync.Mutex
	fails error
	takes time.Duration
	skew  time.Duration
}

func (h *hub) set(fails error, takes, skew time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fails, h.takes, h.skew = fails, takes, skew
}

func (h *hub) Sync(ctx context.Context, s storage.Sync) (storage.Synced, error) {
	h.mu.Lock()
	fails, takes, skew := h.fails, h.takes, h.skew
	h.mu.Unlock()
	time.Sleep(takes)
	if fails != nil {
		return storage.Synced{}, fails
	}
	answer, err := h.Hub.Sync(ctx, s)
	answer.Clock = storage.Moment(time.Now().Add(skew).UnixMicro())
	return answer, err
}

// daemon is a node that a loop serves.
type daemon struct {
	*node
	mu    sync.Mutex
	said  []string
	tests string // none, leased or all
}

func (d *daemon) say(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.said = append(d.said, fmt.Sprintf(format, args...))
}

func (d *daemon) took() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	said := d.said
	d.said = nil
	return said
}

func (d *daemon) Lease(ids []string, _ time.Time) { d.tests = fmt.Sprint(ids) }
func (d *daemon) LeaseNone()                      { d.tests = "all" }
func (d *daemon) Wanted() <-chan struct{}         { return nil }
func (d *daemon) TakeWanted() []string            { return nil }
func (d *daemon) LearnItem(key, value string, _ time.Time) {
	d.say("item %s %s", key, value)
}
func (d *daemon) Rejoined()                         { d.say("rejoined") }
func (d *daemon) Incident(err error)                { d.say("incident: %v", err) }
func (d *daemon) Recovered(int)                     { d.say("recovered") }
func (d *daemon) Skewed(_ time.Duration, much bool) { d.say("skewed %v", much) }

// looped runs a loop in a bubble until the test returns.
func looped(t *testing.T, test func(t *testing.T, h *hub, d *daemon, l *fleet.Loop)) {
	synctest.Test(t, func(t *testing.T) {
		h := &hub{Hub: storetest.NewHub()}
		d := &daemon{node: &node{rig: &rig{t: t}, ids: []string{"p"}, breakers: map[string]*breaker.Breaker{"p": breaker.New(settings(), nil)}}}
		l := fleet.NewLoop(h, fleet.New("me", fleet.Settings{Window: time.Minute}, d), d, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { l.Run(ctx) })
		test(t, h, d, l)
		cancel()
		running.Wait()
	})
}

func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestIncidentIsOneLineAndItsEndAnother(t *testing.T) {
	looped(t, func(t *testing.T, h *hub, d *daemon, l *fleet.Loop) {
		after(time.Second)
		if got := d.took(); !slices.Equal(got, []string{"rejoined"}) {
			t.Errorf("%q", got)
		}
		h.set(errors.New("gone"), 0, 0)
		after(time.Minute)
		if got := d.took(); !slices.Equal(got, []string{"incident: gone"}) || d.tests != "all" {
			t.Errorf("%q, tests %s", got, d.tests)
		}
		if s := l.Status(); s.Up || s.Problem != "gone" || !s.Alone || s.Failures < 100 {
			t.Errorf("%+v", s)
		}
		h.set(nil, 0, 0)
		after(time.Second)
		if got := d.took(); !slices.Equal(got, []string{"recovered"}) || d.tests != "[]" {
			t.Errorf("%q, tests %s", got, d.tests)
		}
	})
}

func TestSlowHubIsNotWaitedForByWhoTells(t *testing.T) {
	looped(t, func(t *testing.T, h *hub, d *daemon, l *fleet.Loop) {
		h.set(nil, time.Hour, 0)
		after(time.Second)
		began := time.Now()
		for range 1000 {
			l.Note("p")
			l.Tell("pause:p", "x", began, time.Hour)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
	})
}

func TestClockThatIsOffIsToldOnceAndWhenItIsMended(t *testing.T) {
	looped(t, func(t *testing.T, h *hub, d *daemon, _ *fleet.Loop) {
		after(time.Second)
		d.took()
		h.set(nil, 0, 6*time.Second)
		after(10 * time.Second)
		h.set(nil, 0, time.Second)
		after(10 * time.Second)
		if got := d.took(); !slices.Equal(got, []string{"skewed true", "skewed false"}) {
			t.Errorf("%q", got)
		}
	})
}

func TestWhatIsToldLastIsNotLost(t *testing.T) {
	var h *hub
	looped(t, func(_ *testing.T, one *hub, _ *daemon, l *fleet.Loop) {
		h = one
		after(time.Second)
		l.Tell("pause:p", "x", time.Now(), time.Hour)
	})
	answer, err := h.Hub.Sync(t.Context(), storage.Sync{Instance: "other", Limit: 10})
	if err != nil || len(answer.Items) != 1 {
		t.Errorf("%+v, %v", answer, err)
	}
}
