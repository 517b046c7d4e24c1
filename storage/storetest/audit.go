package storetest

import (
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"swivel/storage"
)

func auditIsKeptInOrder(t *testing.T, store storage.Store, _ *clock) {
	first := storage.Deed{At: Epoch.Add(time.Hour), Caller: "alice (127.0.0.1)", Action: "pause", Subject: "tag:eu", Input: "we don't pay twice"}
	second := storage.Deed{At: Epoch, Caller: "127.0.0.1", Action: "reload"} // the clock was set back
	third := storage.Deed{At: Epoch, Caller: "bob", Action: "drain", Subject: "0123456789abcdef", Input: "why"}
	for _, deed := range []storage.Deed{first, second, third} {
		if err := store.Audit(t.Context(), deed); err != nil {
			t.Fatal(err)
		}
	}
	for limit, want := range map[int][]storage.Deed{10: {third, second, first}, 2: {third, second}} {
		got, err := store.Deeds(t.Context(), limit)
		if diff := gocmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%d deeds: %v\n%s", limit, err, diff)
		}
	}
}

func invalidDeed(t *testing.T, store storage.Store, _ *clock) {
	good := storage.Deed{At: Epoch, Caller: "alice", Action: "pause"}
	for _, spoil := range []func(*storage.Deed){
		func(d *storage.Deed) { d.At = time.Time{} },
		func(d *storage.Deed) { d.Caller = "" },
		func(d *storage.Deed) { d.Action = "" },
		func(d *storage.Deed) { d.Input = "two\nlines" },
		func(d *storage.Deed) { d.Subject = strings.Repeat("x", 1<<20) },
	} {
		bad := good
		spoil(&bad)
		if err := store.Audit(t.Context(), bad); err == nil {
			t.Errorf("%.100v was stored", bad)
		}
	}
	if got, err := store.Deeds(t.Context(), 10); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}
