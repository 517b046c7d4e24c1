package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"swivel/storage"
)

// Ban returns a ban of the proxy from target that is over a minute after Epoch.
func Ban(id, target string) storage.Ban {
	return storage.Ban{ProxyID: id, Target: target, Until: Epoch.Add(time.Minute)}
}

// Rest returns a rest of the target that is over ten seconds after Epoch.
func Rest(target string) storage.TargetRest {
	return storage.TargetRest{Target: target, Until: Epoch.Add(10 * time.Second), Rest: 20*time.Second + time.Microsecond}
}

func saveTargets(t *testing.T, store storage.Store, bans []storage.Ban, rests []storage.TargetRest) {
	t.Helper()
	if err := store.SaveTargets(t.Context(), bans, rests); err != nil {
		t.Fatalf("save targets: %v", err)
	}
}

func wantTargets(t *testing.T, store storage.Store, now time.Time, bans []storage.Ban, rests []storage.TargetRest) {
	t.Helper()
	gotBans, gotRests, err := store.LoadTargets(t.Context(), now)
	if err != nil {
		t.Fatalf("load targets: %v", err)
	}
	slices.SortFunc(gotBans, func(a, b storage.Ban) int {
		return cmp.Or(cmp.Compare(a.ProxyID, b.ProxyID), cmp.Compare(a.Target, b.Target))
	})
	slices.SortFunc(gotRests, func(a, b storage.TargetRest) int { return cmp.Compare(a.Target, b.Target) })
	if diff := gocmp.Diff(bans, gotBans); diff != "" && len(bans)+len(gotBans) > 0 {
		t.Errorf("bans differ (-want +loaded):\n%s", diff)
	}
	if diff := gocmp.Diff(rests, gotRests); diff != "" && len(rests)+len(gotRests) > 0 {
		t.Errorf("rests differ (-want +loaded):\n%s", diff)
	}
}

func targetsAreReplaced(t *testing.T, store storage.Store, _ *clock) {
	bans := []storage.Ban{Ban("a", "x.example:443"), Ban("a", "y.example:443"), Ban("b", "x.example:443")}
	rests := []storage.TargetRest{Rest("[2001:db8::1]:80"), Rest("bücher.example:80")}
	wantTargets(t, store, Epoch, nil, nil)
	saveTargets(t, store, bans, rests)
	wantTargets(t, store, Epoch, bans, rests)
	saveTargets(t, store, bans[2:], nil)
	wantTargets(t, store, Epoch, bans[2:], nil)
	saveTargets(t, store, nil, rests[:1])
	wantTargets(t, store, Epoch, nil, rests[:1])
}

func overIsOver(t *testing.T, store storage.Store, _ *clock) {
	bans, rests := []storage.Ban{Ban("a", "x.example:443")}, []storage.TargetRest{Rest("x.example:443")}
	saveTargets(t, store, bans, rests)
	wantTargets(t, store, rests[0].Until.Add(-time.Microsecond), bans, rests)
	wantTargets(t, store, rests[0].Until, bans, nil)
	wantTargets(t, store, bans[0].Until, nil, nil)
	wantTargets(t, store, Epoch, bans, rests) // loading removes nothing
}

// Targets are what clients ask for: anything.
func strangeTarget(t *testing.T, store storage.Store, _ *clock) {
	bans := []storage.Ban{Ban("a", "user:s3cret@x.example:443"), Ban("a", "x.example:443"), Ban("b:c", "x.example:443")}
	rests := []storage.TargetRest{Rest("x.example:80\n"), Rest(""), Rest("x.example:80")}
	saveTargets(t, store, bans, rests)
	wantTargets(t, store, Epoch, bans[1:2], rests[2:])
}

func longestAreKept(t *testing.T, store storage.Store, _ *clock) {
	const beyond = 5
	var bans, wantBans []storage.Ban
	var rests, wantRests []storage.TargetRest
	for i := range storage.MaxTargets + beyond {
		name := fmt.Sprintf("%05d.example:80", i)
		ban, rest := Ban("a", name), Rest(name)
		ban.Until = ban.Until.Add(time.Duration(i) * time.Second)
		rest.Until = rest.Until.Add(time.Duration(i) * time.Second)
		shorter := ban
		shorter.Until = Epoch.Add(time.Second)
		bans, rests = append(bans, shorter, ban, shorter), append(rests, rest)
		if i >= beyond {
			wantBans, wantRests = append(wantBans, ban), append(wantRests, rest)
		}
	}
	saveTargets(t, store, bans, rests)
	wantTargets(t, store, Epoch, wantBans, wantRests)
}
