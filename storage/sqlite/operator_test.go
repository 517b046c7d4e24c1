package sqlite

import (
	"errors"
	"os"
	"testing"

	"swivel/storage"
	"swivel/storage/storetest"
)

// An operator paused it, saw the answer, and then the machine went down.
func TestPauseSurvivesReopening(t *testing.T) {
	path := tempPath(t)
	store, _ := mustOpen(t, path)
	if err := store.SetPause(t.Context(), storetest.Pause("a")); err != nil {
		t.Fatal(err)
	}
	bans, rests := []storage.Ban{storetest.Ban("a", "x:1")}, []storage.TargetRest{storetest.Rest("x:1")}
	if err := store.SaveTargets(t.Context(), bans, rests); err != nil {
		t.Fatal(err)
	}
	mustClose(t, store)
	again, _ := mustOpen(t, path)
	if got, err := again.Pauses(t.Context()); err != nil || len(got) != 1 || got[0].Reason != storetest.Pause("a").Reason {
		t.Errorf("pauses %+v, %v", got, err)
	}
	if bans, rests, err := again.LoadTargets(t.Context(), storetest.Epoch); err != nil || len(bans) != 1 || len(rests) != 1 {
		t.Errorf("bans %v, rests %v, %v", bans, rests, err)
	}
}

// One edited row must not lift the bans beside it, and no pause at all, not even its
// own: the proxy would be used again.
func TestNonsenseCostsNoPauseAndNoOtherBan(t *testing.T) {
	store, _ := mustOpen(t, tempPath(t))
	for _, row := range []string{
		"pauses VALUES ('sound', 'r', 1770000000, '', 0)",
		"pauses VALUES ('u:s3cret@h', 'r', 1770000000, '', 0)",
		"pauses VALUES ('time', 'r', 'yesterday', '', 0)",
		"pauses VALUES ('blob', x'00', 1770000000, '', 0)",
		"pauses VALUES ('lines', 'r' || char(10), 1770000000, '', 0)",
		"pauses VALUES ('drain', 'r', 1770000000, '', 2)",
		"pauses VALUES ('long', hex(zeroblob(5000)), 1770000000, '', 0)",
		"bans VALUES ('sound', 'x:1', 1780000000)",
		"bans VALUES ('never', 'x:1', 9e999)",
		"bans VALUES ('text', 'x:1', 'for ever')",
		"bans VALUES ('blob', x'00', 1780000000)",
		"bans VALUES ('url', 'http://x/', 1780000000)",
		"target_rests VALUES ('x:1', 1780000000, 5)",
		"target_rests VALUES ('x:2', 1780000000000, 5)",
		"target_rests VALUES ('x:3', 1780000000, -5)",
		"target_rests VALUES ('x:4', 1780000000, 'long')",
		"target_rests VALUES (x'78', 1780000000, 5)",
	} {
		mustExec(t, store.db, "INSERT INTO "+row)
	}
	pauses, err := store.Pauses(t.Context())
	if err != nil || len(pauses) != 6 {
		t.Errorf("pauses %+v, %v", pauses, err)
	}
	for _, p := range pauses {
		if err := p.Validate(); err != nil || (p.Reason == "r") != (p.ProxyID == "sound") {
			t.Errorf("%+v, %v", p, err)
		}
	}
	bans, rests, err := store.LoadTargets(t.Context(), storetest.Epoch)
	if err != nil || len(bans) != 1 || bans[0].ProxyID != "sound" || len(rests) != 1 || rests[0].Target != "x:1" {
		t.Errorf("bans %+v, rests %+v, %v", bans, rests, err)
	}
}

// "Paused", the operator would read, and after the next start it is not.
func TestPauseIsNotWrittenIntoAFileThatIsGone(t *testing.T) {
	path := tempPath(t)
	store, _ := mustOpen(t, path)
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	_, cleared := store.ClearPause(t.Context(), "a")
	for name, err := range map[string]error{
		"set":     store.SetPause(t.Context(), storetest.Pause("a")),
		"clear":   cleared,
		"targets": store.SaveTargets(t.Context(), nil, nil),
	} {
		if !errors.Is(err, ErrMoved) {
			t.Errorf("%s: err = %v, want ErrMoved", name, err)
		}
	}
}
