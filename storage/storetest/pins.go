package storetest

import (
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"swivel/storage"
)

// Pin returns a pin of the session to the proxy that was used at Epoch, and is
// over a minute later.
func Pin(session, proxy string) storage.Pin {
	return storage.Pin{SessionID: session, ProxyID: proxy, LastUse: Epoch, TTL: time.Minute}
}

func savePins(t *testing.T, store storage.Store, pins []storage.Pin, gone ...string) {
	t.Helper()
	if err := store.SavePins(t.Context(), pins, gone); err != nil {
		t.Fatalf("save pins: %v", err)
	}
}

func wantPins(t *testing.T, store storage.Store, now time.Time, want ...storage.Pin) {
	t.Helper()
	got, err := store.LoadPins(t.Context(), now)
	if err != nil {
		t.Fatalf("load pins: %v", err)
	}
	if diff := gocmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
		t.Errorf("pins differ (-want +loaded):\n%s", diff)
	}
}

func pinsAreReplacedAndRemoved(t *testing.T, store storage.Store, _ *clock) {
	a, b, c := Pin("a", "p1"), Pin("b", "p1"), Pin("c", "p2")
	b.LastUse, c.LastUse = Epoch.Add(time.Second), Epoch.Add(2*time.Second+time.Microsecond)
	wantPins(t, store, Epoch)
	savePins(t, store, []storage.Pin{c, a, b})
	wantPins(t, store, Epoch, a, b, c)
	a.ProxyID, a.LastUse, a.TTL = "p3", Epoch.Add(3*time.Second), 90*time.Second
	savePins(t, store, []storage.Pin{a}, "b", "never heard of")
	wantPins(t, store, Epoch, c, a)
	savePins(t, store, nil)
	wantPins(t, store, Epoch, c, a)
}

func pinsThatAreOverAreGone(t *testing.T, store storage.Store, _ *clock) {
	a, b := Pin("a", "p"), Pin("b", "p")
	b.TTL, b.LastUse = time.Hour, Epoch.Add(time.Millisecond) // equals come in any order
	savePins(t, store, []storage.Pin{a, b})
	wantPins(t, store, Epoch.Add(time.Minute), a, b)
	wantPins(t, store, Epoch.Add(time.Minute+time.Second), b)
	wantPins(t, store, Epoch, b) // loading removed it
}

func invalidPinFails(t *testing.T, store storage.Store, _ *clock) {
	for name, spoil := range map[string]func(*storage.Pin){
		"session": func(p *storage.Pin) { p.SessionID = "what the client said: s3cret" },
		"proxy":   func(p *storage.Pin) { p.ProxyID = "user:s3cret@host" },
		"time":    func(p *storage.Pin) { p.LastUse = time.Time{} },
		"ttl":     func(p *storage.Pin) { p.TTL = 0 },
	} {
		bad := Pin("b", "p")
		spoil(&bad)
		if err := store.SavePins(t.Context(), []storage.Pin{Pin("a", "p"), bad}, nil); err == nil {
			t.Errorf("%s: saved", name)
		}
	}
	wantPins(t, store, Epoch)
}
