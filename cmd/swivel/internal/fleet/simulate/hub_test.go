package simulate

import (
	"container/list"
	"slices"
	"sort"
	"strconv"

	"swivel/storage"
)

// hub is the model of the server: what storetest.Hub is, but for items, fast enough
// for a thousand instances, and with an account of the work. Its clock is what the
// caller of sync says.
type hub struct {
	life    int
	version uint64
	rows    map[string]*row
	log     []change // by version; a row's older ones are void
	leases  map[string]lease
	seen    map[string]*list.Element
	lately  *list.List // of sighting, the latest last
	nudged  storage.Moment
	work    work
}

type row struct {
	known   storage.Known
	version uint64
}

type change struct {
	version uint64
	row     *row
}

type lease struct {
	by    string
	until storage.Moment
}

type sighting struct {
	name string
	at   storage.Moment
}

func newHub() *hub {
	h := &hub{}
	h.restart()
	return h
}

// restart forgets everything.
func (h *hub) restart() {
	*h = hub{
		life: h.life + 1, work: h.work, rows: map[string]*row{}, leases: map[string]lease{},
		seen: map[string]*list.Element{}, lately: list.New(),
	}
}

// sync is storage.Hub's; publishes says that the others are nudged.
func (h *hub) sync(s storage.Sync) (answer storage.Synced, publishes bool) {
	w := work{calls: 1, commands: 15, received: sizeOfSync(&s)} // TIME, EVALSHA, and what the script does in any case
	life, cursor := strconv.Itoa(h.life), s.Cursor
	if s.Life != life {
		cursor = 0
	}
	own := h.tell(&s, cursor, &w)
	for _, id := range s.Released {
		w.commands++
		if h.leases[id].by == s.Instance {
			w.commands++
			delete(h.leases, id)
		}
	}
	answer = storage.Synced{Clock: s.Now, Life: life, Leases: h.lease(&s, &w), Instances: h.meet(s.Instance, s.Now)}
	if w.fresh > 0 {
		w.commands += 3
		if publishes = h.nudged <= s.Now; publishes {
			w.commands++
			h.nudged = s.Now + storage.Moment(s.Gap)*1000
			w.nudges = answer.Instances - 1
		}
	}
	h.since(cursor, s.Limit, own, &answer, &w)
	h.work.add(w)
	return answer, publishes
}

// tell merges what is told, and returns the rows of which the caller had seen all
// that was before: it is not told these again.
func (h *hub) tell(s *storage.Sync, cursor uint64, w *work) (own map[*row]bool) {
	for _, told := range s.Known {
		w.told++
		w.commands++
		r := h.rows[told.ProxyID]
		if r == nil {
			r = &row{known: storage.Known{ProxyID: told.ProxyID}}
			h.rows[told.ProxyID] = r
		}
		before := r.known
		r.known = before.Merge(told)
		r.known.ProxyID = told.ProxyID
		if same(before, r.known) && (len(told.Window) == 0 || before.Compare(told) != 0) {
			continue
		}
		if own == nil {
			own = map[*row]bool{}
		}
		own[r] = own[r] || r.version <= cursor
		h.version++
		r.version = h.version
		h.log = append(h.log, change{h.version, r})
		w.fresh++
		w.commands += 5
	}
	if len(h.log) > 2*len(h.rows)+1000 {
		h.log = slices.DeleteFunc(h.log, func(c change) bool { return c.version != c.row.version })
	}
	return own
}

func same(a, b storage.Known) bool {
	return a.Compare(b) == 0 && a.Succeeded == b.Succeeded &&
		a.LastSuccess == b.LastSuccess && slices.Equal(a.Failures, b.Failures) && slices.Equal(a.Window, b.Window)
}

func (h *hub) lease(s *storage.Sync, w *work) (granted []string) {
	until := s.Now + storage.Moment(s.LeaseFor)*1000
	for _, wish := range s.Leases {
		w.wishes++
		w.commands += 2
		one, taken := h.leases[wish.ProxyID]
		taken = taken && one.until > s.Now
		if taken && one.by == s.Instance || !taken && h.stamp(wish.ProxyID) <= wish.Stamp {
			h.leases[wish.ProxyID] = lease{s.Instance, until}
			granted = append(granted, wish.ProxyID)
		}
	}
	return granted
}

func (h *hub) stamp(id string) storage.Moment {
	if r := h.rows[id]; r != nil {
		return r.known.Stamp
	}
	return 0
}

// meet returns how many instances were there within five seconds.
func (h *hub) meet(name string, at storage.Moment) int {
	if e := h.seen[name]; e != nil {
		h.lately.Remove(e)
	}
	h.seen[name] = h.lately.PushBack(sighting{name, at})
	for e := h.lately.Front(); at-e.Value.(sighting).at > 5_000_000; e = h.lately.Front() {
		h.lately.Remove(e)
		delete(h.seen, e.Value.(sighting).name)
	}
	return len(h.seen)
}

// since adds what has changed since the cursor.
func (h *hub) since(cursor uint64, limit int, own map[*row]bool, answer *storage.Synced, w *work) {
	answer.Cursor = h.version
	from := sort.Search(len(h.log), func(i int) bool { return h.log[i].version > cursor })
	found := 0
	for _, c := range h.log[from:] {
		if c.version != c.row.version {
			continue
		}
		found++
		w.commands++
		if !own[c.row] {
			answer.Known = append(answer.Known, c.row.known)
			w.returned++
			w.sent += sizeOf(&c.row.known)
		}
		if found == limit {
			answer.More, answer.Cursor = true, c.version
			break
		}
	}
}
