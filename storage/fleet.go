package storage

import (
	"cmp"
	"context"
	"slices"
	"strconv"
)

// Moment is a time that the instances of a fleet agree on: microseconds of unix
// time by the clock of their hub. The zero value is none.
type Moment int64

// MarshalText writes a number of at least sixteen digits, so that they sort like
// texts, which is how a hub compares them that knows no whole numbers of that
// size. None is written as nothing.
func (m Moment) MarshalText() ([]byte, error) {
	if m <= 0 {
		return nil, nil
	}
	text := strconv.FormatInt(int64(m), 10)
	for len(text) < 16 {
		text = "0" + text
	}
	return []byte(text), nil
}

// UnmarshalText is the inverse. What is no number is none.
func (m *Moment) UnmarshalText(text []byte) error {
	n, _ := strconv.ParseInt(string(text), 10, 64)
	*m = Moment(max(n, 0))
	return nil
}

// Known is what the instances of a fleet know together of one proxy: the last
// change of its breaker, and what came of attempts since then. An instance tells
// its part in the same form.
type Known struct {
	ProxyID string `json:"id"`

	// The standing. Of two the one with the later stamp holds.
	Stamp      Moment `json:"a"` // of the last change of state; none if there never was one
	State      string `json:"s,omitempty"`
	Until      Moment `json:"u"`
	Cause      string `json:"c,omitempty"`
	OpensInRow int    `json:"o,omitempty"`
	ProbeWins  int    `json:"w,omitempty"`

	Succeeded   bool   `json:"z,omitempty"` // it has, ever
	LastSuccess Moment `json:"k"`

	// Outcomes under this standing.
	Failures []Miss  `json:"f,omitempty"` // those after the last success, the newest MaxMisses of them
	Window   []Count `json:"b,omitempty"` // by the beginnings of parts of the window, the newest MaxCounts
}

// Miss is one failed attempt.
type Miss struct {
	At Moment `json:"t"`
	By string `json:"i"` // the instance
}

// Count is how many outcomes there were from At on.
type Count struct {
	At        Moment `json:"t"`
	Successes int    `json:"s"`
	Failures  int    `json:"f"`
}

// What a hub keeps of one proxy at most. A window of a breaker has twelve parts.
const (
	MaxMisses = 64
	MaxCounts = 16
)

// Merge adds what an instance tells to what is known. The later standing wins,
// and outcomes under another one are void: attempts that began before a change of
// state say nothing about what is after it. Under the same standing failures
// unite, the latest success ends a run for all, and counts add up. Neither the
// order nor, but for the counts, the number of times matters in which things are
// told.
func (k Known) Merge(told Known) Known {
	newer := k.Compare(told)
	if newer < 0 {
		k, told = told, k
	}
	k.Succeeded = k.Succeeded || told.Succeeded
	k.LastSuccess = max(k.LastSuccess, told.LastSuccess)
	if newer == 0 {
		k.Failures = append(slices.Clone(k.Failures), told.Failures...)
		k.Window = append(slices.Clone(k.Window), told.Window...)
	}
	k.Failures = unite(k.Failures, k.LastSuccess)
	k.Window = addUp(k.Window)
	return k
}

// Alone is the standing, without anything that came after it.
func (k Known) Alone() Known {
	return Known{
		ProxyID: k.ProxyID, Stamp: k.Stamp, State: k.State, Until: k.Until,
		Cause: k.Cause, OpensInRow: k.OpensInRow, ProbeWins: k.ProbeWins,
	}
}

// Compare is negative if the standing of other is the later one. Two instances
// that change the state within one microsecond need any order, as long as it is
// the same for all.
func (k Known) Compare(other Known) int {
	return cmp.Or(
		cmp.Compare(k.Stamp, other.Stamp), cmp.Compare(k.State, other.State), cmp.Compare(k.Until, other.Until),
		cmp.Compare(k.OpensInRow, other.OpensInRow), cmp.Compare(k.ProbeWins, other.ProbeWins), cmp.Compare(k.Cause, other.Cause),
	)
}

func unite(misses []Miss, after Moment) []Miss {
	misses = slices.DeleteFunc(slices.Clone(misses), func(m Miss) bool { return m.At <= after })
	slices.SortFunc(misses, func(a, b Miss) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.By, b.By)) })
	misses = slices.Compact(misses)
	if len(misses) == 0 {
		return nil
	}
	return misses[max(0, len(misses)-MaxMisses):]
}

func addUp(counts []Count) []Count {
	sums := map[Moment]Count{}
	for _, c := range counts {
		sum := sums[c.At]
		sums[c.At] = Count{c.At, sum.Successes + c.Successes, sum.Failures + c.Failures}
	}
	var all []Count
	for _, c := range sums {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Count) int { return cmp.Compare(a.At, b.At) })
	return all[max(0, len(all)-MaxCounts):]
}

// Item is something else that a fleet shares, such as a pause. Of two with one
// key the later one holds.
type Item struct {
	Key   string `json:"k"`
	Stamp Moment `json:"a"`
	Value string `json:"x"` // "": it is gone
	TTL   int    `json:"l"` // seconds until it is forgotten
}

// Merge returns the one that holds.
func (i Item) Merge(told Item) Item {
	if cmp.Or(cmp.Compare(i.Stamp, told.Stamp), cmp.Compare(i.Value, told.Value)) < 0 {
		return told
	}
	return i
}

// Wish is for the lease of a proxy: the right to test it, which one instance has
// at a time. Who knows less of the proxy than the hub does not get it, for its
// rest may not be over.
type Wish struct {
	ProxyID string `json:"id"`
	Stamp   Moment `json:"a"`
}

// Sync is what an instance tells its hub, and asks of it, in one call.
type Sync struct {
	Instance string `json:"me"`
	Now      Moment `json:"now"`
	Salt     string `json:"salt"` // see Store.Salt, in hexadecimal; the first instance's is the fleet's

	Life   string `json:"life"`   // of the hub, as it said the last time
	Cursor uint64 `json:"cursor"` // up to where the changes are known
	Limit  int    `json:"limit"`  // how many changes may come back

	Known    []Known  `json:"known,omitempty"`
	Items    []Item   `json:"items,omitempty"`
	Leases   []Wish   `json:"leases,omitempty"`   // to get, or to keep
	LeaseFor int      `json:"leasefor"`           // milliseconds, until they lapse if they are not kept
	Released []string `json:"released,omitempty"` // after what Known says
	Gap      int      `json:"gap"`                // milliseconds between two nudges of the others, at least
}

// Synced is the answer.
type Synced struct {
	Clock     Moment // of the hub
	Life      string // another one than before: it has lost what it knew
	Cursor    uint64
	More      bool // there are more changes than were asked for
	Known     []Known
	Items     []Item
	Leases    []string // those that are held now, by proxy
	Instances int
}

// Hub is where the instances of a fleet meet. It is safe for concurrent use.
type Hub interface {
	Sync(ctx context.Context, s Sync) (Synced, error)
	// Nudges gets something, sooner or later, when another instance has told
	// something new.
	Nudges() <-chan struct{}
}
