package admin

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"swivel/breaker"
	"swivel/pool"
)

// A listing is which proxies are asked for, in what order, and which part of
// them.
type listing struct {
	state, tag, text string // "": any
	by               order  // nil: as in the lists
	descending       bool
	limit, offset    int
}

// key is what a proxy is sorted by: one of the two.
type key struct {
	number float64 // NaN: unknown, which comes last in either direction
	text   string
}

// order gives the key of a proxy.
type order func(m *pool.Proxy, now time.Time) key

func byNumber(of func(*pool.Proxy, time.Time) float64) order {
	return func(m *pool.Proxy, now time.Time) key { return key{number: of(m, now)} }
}

func byText(of func(*pool.Proxy) string) order {
	return func(m *pool.Proxy, _ time.Time) key { return key{text: of(m)} }
}

// orders are what a list can be sorted by, under the names of the fields.
var orders = map[string]order{
	"name":    byText(func(m *pool.Proxy) string { return m.Spec.Label() }),
	"segment": byText(func(m *pool.Proxy) string { return pool.SegmentName(m.Spec) }),
	"state": byNumber(func(m *pool.Proxy, now time.Time) float64 {
		return float64(slices.Index(standings, standing(m, now)))
	}),
	"weight":           byNumber(func(m *pool.Proxy, _ time.Time) float64 { return m.Spec.Weight }),
	"effective_weight": byNumber((*pool.Proxy).EffectiveWeight),
	"in_flight":        byNumber(func(m *pool.Proxy, _ time.Time) float64 { return float64(m.InFlight()) }),
	"picks":            byNumber(func(m *pool.Proxy, _ time.Time) float64 { return float64(m.Picks()) }),
	"latency_ms": byNumber(func(m *pool.Proxy, _ time.Time) float64 {
		return known(m.Latency() > 0, m.Latency().Seconds())
	}),
	"success_ratio": byNumber(func(m *pool.Proxy, now time.Time) float64 {
		if r := ratio(m.Breaker().Snapshot(now)); r != nil {
			return *r
		}
		return math.NaN()
	}),
	"next_test_time": byNumber(func(m *pool.Proxy, now time.Time) float64 {
		return known(m.Breaker().Resting(), m.Breaker().RetryAfter(now).Seconds())
	}),
}

func known(is bool, value float64) float64 {
	if !is {
		return math.NaN()
	}
	return value
}

// compare puts the unknown last, whatever the direction.
func (l *listing) compare(a, b key) int {
	if x, y := math.IsNaN(a.number), math.IsNaN(b.number); x || y {
		switch {
		case x && y:
			return 0
		case x:
			return 1
		}
		return -1
	}
	if l.descending {
		a, b = b, a
	}
	return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.text, b.text))
}

// The words for what is the matter with a proxy, beside the states of its
// breaker. An operator's word comes before that, a weight of 0 behind it.
const (
	isPaused  = "paused"
	isDrained = "drained"
)

var standings = []string{breaker.Open.String(), breaker.HalfOpen.String(), isPaused, isDrained, breaker.Closed.String()}

// Standings are the words that Standing has, what needs somebody's attention
// first.
func Standings() []string { return slices.Clone(standings) }

// Standing says in one word what is the matter with the proxy: paused, drained, or
// the state of its breaker.
func (p *Proxy) Standing() string {
	switch {
	case p.Paused:
		return isPaused
	case p.Drained && (p.PauseReason != "" || p.State == breaker.Closed.String()):
		return isDrained
	}
	return p.State
}

// standing is the word for a member.
func standing(m *pool.Proxy, now time.Time) string {
	if pause := m.Paused(); pause != nil && pause.Drain {
		return isDrained
	} else if pause != nil {
		return isPaused
	}
	state := breaker.Closed
	if m.Breaker().Resting() {
		state = m.Breaker().State(now)
	}
	if state == breaker.Closed && m.Spec.Weight == 0 {
		return isDrained
	}
	return state.String()
}

// parseListing reads the query; its error says what it wants.
func parseListing(q url.Values) (l listing, err error) {
	l = listing{state: q.Get("state"), tag: q.Get("tag"), text: strings.ToLower(q.Get("q"))}
	if l.state != "" && !slices.Contains(standings, l.state) {
		return l, errors.New("state: want one of " + strings.Join(standings, ", "))
	}
	if name := q.Get("sort"); name != "" {
		name, l.descending = strings.CutPrefix(name, "-")
		if l.by = orders[name]; l.by == nil {
			return l, errors.New("sort: want name, state, segment, weight, effective_weight, in_flight, picks, success_ratio, latency_ms or next_test_time, behind a - for the greatest first")
		}
	}
	if l.limit, err = count(q, "limit", math.MaxInt); err != nil {
		return l, err
	}
	l.offset, err = count(q, "offset", 0)
	return l, err
}

// count reads a number of things.
func count(q url.Values, key string, missing int) (int, error) {
	text := q.Get(key)
	if text == "" {
		return missing, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, errors.New(key + ": want a whole number, 0 or more")
	}
	return n, nil
}

// proxies lists members. The answer is the asked part of those that fit; how
// many fit is in X-Total-Count.
func (s *Server) proxies(w http.ResponseWriter, r *http.Request) {
	l, err := parseListing(r.URL.Query())
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	found, total := l.find(s.pool().Proxies(), time.Now())
	w.Header().Set("X-Total-Count", strconv.Itoa(total))
	writeJSON(w, http.StatusOK, found)
}

// find returns the asked part of the members that fit, and how many do. Only the
// part is described: of a large pool that is little of the work.
func (l *listing) find(all []*pool.Proxy, now time.Time) (found []Proxy, total int) {
	members := make([]*pool.Proxy, 0, len(all))
	for _, m := range all {
		if l.fits(m, now) {
			members = append(members, m)
		}
	}
	return described(part(l.sorted(members, now), l), now), len(members)
}

// sorted sorts by keys that are made once, since what they are made of changes
// meanwhile.
func (l *listing) sorted(members []*pool.Proxy, now time.Time) []*pool.Proxy {
	if l.by == nil {
		return members
	}
	type keyed struct {
		key
		member *pool.Proxy
	}
	all := make([]keyed, len(members))
	for i, m := range members {
		all[i] = keyed{l.by(m, now), m}
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return l.compare(a.key, b.key) })
	for i := range all {
		members[i] = all[i].member
	}
	return members
}

func part(all []*pool.Proxy, l *listing) []*pool.Proxy {
	all = all[min(l.offset, len(all)):]
	return all[:min(l.limit, len(all))]
}

func described(members []*pool.Proxy, now time.Time) []Proxy {
	out := make([]Proxy, 0, len(members))
	for _, m := range members {
		out = append(out, describe(m, now))
	}
	return out
}

func (l *listing) fits(m *pool.Proxy, now time.Time) bool {
	return (l.tag == "" || slices.Contains(m.Spec.Tags, l.tag)) &&
		(l.text == "" || l.found(m)) &&
		(l.state == "" || standing(m, now) == l.state)
}

// found looks for the text in all that a person may know the proxy by.
func (l *listing) found(m *pool.Proxy) bool {
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), l.text) }
	s := m.Spec
	return has(s.Label()) || has(string(m.ID)) || has(s.Address()) || has(s.Provider) || has(s.Region) || has(s.Country) || has(s.City) ||
		slices.ContainsFunc(s.Tags, has)
}
