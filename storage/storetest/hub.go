package storetest

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"swivel/storage"
)

// Hub is a storage.Hub without a server: the rules in Go, for tests and
// simulations. Its clock is what the callers say. Create it with [NewHub]. It is
// safe for concurrent use.
type Hub struct {
	mu        sync.Mutex
	life      int
	salt      string
	version   uint64
	known     map[string]storage.Known
	items     map[string]storage.Item
	changed   map[string]uint64 // by p:ID and i:KEY, the version of the last change
	leases    map[string]held
	instances map[string]storage.Moment
	nudges    chan struct{}
}

type held struct {
	by    string
	until storage.Moment
}

var _ storage.Hub = (*Hub)(nil)

// NewHub returns an empty hub.
func NewHub() *Hub {
	h := &Hub{nudges: make(chan struct{}, 1)}
	h.Restart()
	return h
}

// Restart forgets everything.
func (h *Hub) Restart() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.life++
	h.salt, h.version = "", 0
	h.known, h.items = map[string]storage.Known{}, map[string]storage.Item{}
	h.changed, h.leases, h.instances = map[string]uint64{}, map[string]held{}, map[string]storage.Moment{}
}

// Nudges implements storage.Hub.
func (h *Hub) Nudges() <-chan struct{} { return h.nudges }

// Sync implements storage.Hub.
func (h *Hub) Sync(_ context.Context, s storage.Sync) (storage.Synced, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.Life != strconv.Itoa(h.life) { // whose versions never go back
		s.Cursor = 0
	}
	own := map[string]bool{} // told by who had seen all that was before
	note := func(member string) {
		own[member] = own[member] || h.changed[member] <= s.Cursor
		h.note(member)
	}
	for _, told := range s.Known {
		before, merged := h.known[told.ProxyID], h.known[told.ProxyID].Merge(told)
		merged.ProxyID = told.ProxyID
		more := len(told.Window) > 0 && before.Compare(told) == 0
		if more || !same(before, merged) {
			h.known[told.ProxyID] = merged
			note("p:" + told.ProxyID)
		}
	}
	for _, told := range s.Items {
		if merged := h.items[told.Key].Merge(told); merged != h.items[told.Key] {
			h.items[told.Key] = merged
			note("i:" + told.Key)
		}
	}
	for _, id := range s.Released {
		if h.leases[id].by == s.Instance {
			delete(h.leases, id)
		}
	}
	answer := storage.Synced{Clock: s.Now, Life: strconv.Itoa(h.life), Leases: h.lease(s)}
	h.instances[s.Instance] = s.Now
	for me, seen := range h.instances {
		if s.Now-seen > 5_000_000 {
			delete(h.instances, me)
		}
	}
	answer.Instances = len(h.instances)
	h.since(s, own, &answer)
	return answer, nil
}

func (h *Hub) note(member string) {
	h.version++
	h.changed[member] = h.version
}

func same(a, b storage.Known) bool {
	return a.Compare(b) == 0 && a.Succeeded == b.Succeeded &&
		a.LastSuccess == b.LastSuccess && slices.Equal(a.Failures, b.Failures) && slices.Equal(a.Window, b.Window)
}

func (h *Hub) lease(s storage.Sync) (granted []string) {
	until := s.Now + storage.Moment(s.LeaseFor)*1000
	for _, w := range s.Leases {
		one, taken := h.leases[w.ProxyID]
		taken = taken && one.until > s.Now
		if taken && one.by == s.Instance || !taken && h.known[w.ProxyID].Stamp <= w.Stamp {
			h.leases[w.ProxyID] = held{s.Instance, until}
			granted = append(granted, w.ProxyID)
		}
	}
	return granted
}

// since adds what has changed since the cursor, other than by the caller.
func (h *Hub) since(s storage.Sync, own map[string]bool, answer *storage.Synced) {
	var members []string
	for member, version := range h.changed {
		if version > s.Cursor {
			members = append(members, member)
		}
	}
	slices.SortFunc(members, func(a, b string) int { return int(h.changed[a]) - int(h.changed[b]) })
	answer.Cursor = h.version
	if len(members) >= s.Limit {
		members, answer.More = members[:s.Limit], true
		answer.Cursor = h.changed[members[len(members)-1]]
	}
	for _, member := range members {
		switch {
		case own[member]:
		case member[0] == 'p':
			answer.Known = append(answer.Known, h.known[member[2:]])
		default:
			answer.Items = append(answer.Items, h.items[member[2:]])
		}
	}
}
