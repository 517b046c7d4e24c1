package storetest

import (
	"bytes"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"swivel/storage"
)

func rowsGoOnUnderOtherIDs(t *testing.T, store storage.Store, _ *clock) {
	save(t, store, Record("a"), Record("b"), Record("gone"))
	setPause(t, store, Pause("a"))
	setPause(t, store, Pause("gone"))
	rests := []storage.TargetRest{Rest("x.example:80")}
	saveTargets(t, store, []storage.Ban{Ban("b", "x.example:80"), Ban("b", "y.example:80"), Ban("gone", "x.example:80")}, rests)
	savePins(t, store, []storage.Pin{Pin("s", "a")})
	before, err := store.Salt(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	salt := bytes.Repeat([]byte{7}, storage.SaltSize)
	if err := store.Rekey(t.Context(), salt, map[string]string{"a": "a2", "b": "b2", "never_seen": "c2"}); err != nil {
		t.Fatal(err)
	}
	want := []storage.Record{Record("a2"), Record("b2")}
	for i := range want {
		want[i].CreatedAt, want[i].UpdatedAt = Epoch, Epoch
	}
	if diff := gocmp.Diff(want, load(t, store)); diff != "" {
		t.Errorf("records differ (-want +loaded):\n%s", diff)
	}
	if diff := gocmp.Diff([]storage.Pause{Pause("a2")}, pauses(t, store)); diff != "" {
		t.Errorf("pauses differ (-want +loaded):\n%s", diff)
	}
	wantTargets(t, store, Epoch, []storage.Ban{Ban("b2", "x.example:80"), Ban("b2", "y.example:80")}, rests)
	wantPins(t, store, Epoch)
	if after, err := store.Salt(t.Context()); err != nil || !bytes.Equal(after, salt) || bytes.Equal(after, before) {
		t.Errorf("salt %x, %v; want the new one", after, err)
	}
}
