package storetest

import (
	"context"
	"errors"
	"testing"

	"swivel/storage"
)

func cancelledExtras(t *testing.T, store storage.Store, cancelled context.Context) {
	setPause(t, store, Pause("a"))
	bans, rests := []storage.Ban{Ban("a", "x.example:80")}, []storage.TargetRest{Rest("x.example:80")}
	saveTargets(t, store, bans, rests)
	if err := store.SetPause(cancelled, Pause("b")); err == nil {
		t.Error("set pause: no error")
	}
	if found, err := store.ClearPause(cancelled, "a"); found || err == nil {
		t.Error("clear pause: no error")
	}
	if _, err := store.Pauses(cancelled); err == nil {
		t.Error("pauses: no error")
	}
	if err := store.Rekey(cancelled, nil, nil); err == nil {
		t.Error("rekey: no error")
	}
	if err := store.SaveTargets(cancelled, nil, nil); err == nil {
		t.Error("save targets: no error")
	}
	if _, _, err := store.LoadTargets(cancelled, Epoch); err == nil {
		t.Error("load targets: no error")
	}
	if got := pauses(t, store); len(got) != 1 || got[0].ProxyID != "a" {
		t.Errorf("pauses %v, want that of a alone", got)
	}
	wantTargets(t, store, Epoch, bans, rests)
}

// concurrentExtras is what one of many callers does beside saving records. The
// targets of another caller may come between, but never half of them.
func concurrentExtras(ctx context.Context, store storage.Store, id string) error {
	paused := store.SetPause(ctx, Pause(id))
	_, listed := store.Pauses(ctx)
	saved := store.SaveTargets(ctx, []storage.Ban{Ban(id, "x.example:80")}, nil)
	bans, _, loaded := store.LoadTargets(ctx, Epoch)
	if len(bans) != 1 {
		loaded = errors.Join(loaded, errors.New("bans of two callers are mixed, or none are there"))
	}
	return errors.Join(paused, listed, saved, loaded)
}
