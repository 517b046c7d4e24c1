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

// order compares two proxies.
type order func(a, b *Proxy) int

// orders are what a list can be sorted by, under the names of the fields. What
// is unknown comes last.
var orders = map[string]order{
	"name":             func(a, b *Proxy) int { return cmp.Compare(a.Name, b.Name) },
	"state":            func(a, b *Proxy) int { return cmp.Compare(a.standing(), b.standing()) },
	"segment":          func(a, b *Proxy) int { return cmp.Compare(a.Segment, b.Segment) },
	"weight":           func(a, b *Proxy) int { return cmp.Compare(a.Weight, b.Weight) },
	"effective_weight": func(a, b *Proxy) int { return cmp.Compare(a.EffectiveWeight, b.EffectiveWeight) },
	"in_flight":        func(a, b *Proxy) int { return cmp.Compare(a.InFlight, b.InFlight) },
	"picks":            func(a, b *Proxy) int { return cmp.Compare(a.Picks, b.Picks) },
	"success_ratio":    func(a, b *Proxy) int { return cmp.Compare(known(a.SuccessRatio), known(b.SuccessRatio)) },
	"latency_ms":       func(a, b *Proxy) int { return cmp.Compare(known(a.LatencyMS), known(b.LatencyMS)) },
	"next_test_time":   func(a, b *Proxy) int { return cmp.Compare(known(a.NextTestTime), known(b.NextTestTime)) },
}

func known(value *float64) float64 {
	if value == nil {
		return math.Inf(1)
	}
	return *value
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

// standing puts what needs somebody's attention first.
func (p *Proxy) standing() int { return slices.Index(standings, p.Standing()) }

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

// find describes only who is in the answer, unless all have to be sorted.
func (l *listing) find(all []*pool.Proxy, now time.Time) (found []Proxy, total int) {
	members := make([]*pool.Proxy, 0, len(all))
	for _, m := range all {
		if l.fits(m, now) {
			members = append(members, m)
		}
	}
	total = len(members)
	if l.by == nil {
		return described(part(members, l), now), total
	}
	found = described(members, now)
	slices.SortStableFunc(found, func(a, b Proxy) int {
		if l.descending {
			return l.by(&b, &a)
		}
		return l.by(&a, &b)
	})
	return part(found, l), total
}

func part[T any](all []T, l *listing) []T {
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
