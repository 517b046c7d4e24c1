package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"swivel/storage"
)

// Compare has the store that open returns and a [Memory] do the same things, in
// an order by chance, and fails the test when they come to differ. It closes what
// it opens.
func Compare(t *testing.T, open Open) {
	for seed := range uint64(5) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			clock := &clock{at: Epoch}
			store := open(t, clock.now)
			defer store.Close()
			c := &comparison{t: t, random: rand.New(rand.NewPCG(seed, 1)), clock: clock, stores: [2]storage.Store{NewMemory(clock.now), store}}
			for range 120 {
				c.step()
			}
			c.look()
		})
	}
}

// comparison is two stores of which the first one is right.
type comparison struct {
	t      *testing.T
	random *rand.Rand
	clock  *clock
	stores [2]storage.Store
}

func (c *comparison) id() string { return string(rune('a' + c.random.IntN(6))) }

// both does something to both stores; what it returns has to be the same.
func (c *comparison) both(what string, do func(storage.Store) (any, error)) {
	c.t.Helper()
	want, wantErr := do(c.stores[0])
	got, err := do(c.stores[1])
	if (err == nil) != (wantErr == nil) {
		c.t.Fatalf("%s: %v, want %v", what, err, wantErr)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		c.t.Fatalf("%s differs (-memory +store):\n%s", what, diff)
	}
}

func (c *comparison) step() {
	t, id, other := c.t, c.id(), c.id()
	switch c.random.IntN(10) {
	case 0:
		c.clock.advance(time.Duration(c.random.IntN(90)) * time.Second)
	case 1, 2:
		first, second := Record(id), Record(other)
		second.State, second.Failures = storage.StateClosed, nil
		if c.random.IntN(8) == 0 {
			second.State = "ajar"
		}
		c.both("save", func(s storage.Store) (any, error) {
			return nil, s.Save(t.Context(), []storage.Record{first, second})
		})
	case 3:
		before := c.clock.now().Add(-time.Minute)
		c.both("prune", func(s storage.Store) (any, error) {
			return s.Prune(t.Context(), before, func(one string) bool { return one == id })
		})
	case 4:
		pause := Pause(id)
		pause.At = c.clock.now()
		c.both("set pause", func(s storage.Store) (any, error) { return nil, s.SetPause(t.Context(), pause) })
	case 5:
		c.both("clear pause", func(s storage.Store) (any, error) { return s.ClearPause(t.Context(), id) })
	case 6:
		bans := []storage.Ban{{ProxyID: id, Target: "x.example:80", Until: c.clock.now().Add(time.Minute)}, Ban(other, "y.example:80")}
		rests := []storage.TargetRest{Rest(other + ".example:80")}
		c.both("save targets", func(s storage.Store) (any, error) { return nil, s.SaveTargets(t.Context(), bans, rests) })
	case 7:
		pin := Pin("s"+id, other)
		pin.LastUse = c.clock.now()
		c.both("save pins", func(s storage.Store) (any, error) {
			return nil, s.SavePins(t.Context(), []storage.Pin{pin}, []string{"s" + other})
		})
	case 8:
		if c.random.IntN(4) == 0 {
			salt := []byte(strings.Repeat(id, storage.SaltSize))
			c.both("rekey", func(s storage.Store) (any, error) {
				return nil, s.Rekey(t.Context(), salt, map[string]string{id: "x" + id, other: other})
			})
		}
	case 9:
		c.look()
	}
}

// look compares all that the stores hold, but for the salt.
func (c *comparison) look() {
	c.t.Helper()
	t := c.t
	c.both("load", func(s storage.Store) (any, error) { return load(t, s), nil })
	c.both("load some", func(s storage.Store) (any, error) {
		records, _, err := s.Load(t.Context(), []string{"a", "c", "xb"})
		slices.SortFunc(records, func(a, b storage.Record) int { return strings.Compare(a.ProxyID, b.ProxyID) })
		return records, err
	})
	c.both("pauses", func(s storage.Store) (any, error) { return pauses(t, s), nil })
	now := c.clock.now()
	c.both("targets", func(s storage.Store) (any, error) {
		bans, rests, err := s.LoadTargets(t.Context(), now)
		slices.SortFunc(bans, func(a, b storage.Ban) int { return strings.Compare(a.ProxyID+a.Target, b.ProxyID+b.Target) })
		return []any{len(bans), fmt.Sprint(bans), fmt.Sprint(rests)}, err
	})
	c.both("pins", func(s storage.Store) (any, error) {
		pins, err := s.LoadPins(t.Context(), now)
		slices.SortFunc(pins, func(a, b storage.Pin) int { return strings.Compare(a.SessionID, b.SessionID) })
		return append([]storage.Pin(nil), pins...), err
	})
}
