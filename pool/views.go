package pool

import (
	"maps"
	"slices"
	"sync"

	"swivel/pool/route"
)

// maxViews bounds the views of one snapshot, and viewRoom how many times the pool
// they hold together: 21 bytes for each member. Who asks for more different
// things pays for the making of a view now and then, which costs a look at those
// members that have what is rarest of what is asked for.
const (
	maxViews = 256
	viewRoom = 8
)

// views are those of a snapshot that somebody has asked for. They are made when
// they are first needed and forgotten with the snapshot, or when others are
// needed more.
type views struct {
	making sync.Mutex // one is made at a time, so that to ask for many does not take every processor

	mu   sync.Mutex // held while views learn who is usable, too
	by   map[route.Constraints]*view
	uses uint64
	held int // members, in all of them
	room int
}

// refresh tells all views whether the member at a place is usable now.
func (a *views) refresh(place int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, v := range a.by {
		v.refresh(place)
	}
}

// refreshAll has all views take note of who is usable now.
func (a *views) refreshAll(b *breath) {
	a.mu.Lock()
	all := slices.Collect(maps.Values(a.by))
	a.mu.Unlock()
	for _, v := range all {
		v.refreshAll(&a.mu, b)
	}
}

// find returns a view that there is, nil if there is none.
func (a *views) find(c route.Constraints) *view {
	a.mu.Lock()
	defer a.mu.Unlock()
	v := a.by[c]
	if v != nil {
		a.uses++
		v.lastUse = a.uses
	}
	return v
}

// add keeps a view. What happened while it was made is made up for.
func (a *views) add(c route.Constraints, v *view, b *breath) {
	a.keep(c, v)
	v.refreshAll(&a.mu, b)
}

func (a *views) keep(c route.Constraints, v *view) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.by) >= maxViews || len(a.by) > 1 && a.held+len(v.members) > a.room {
		a.forgetOne()
	}
	a.uses++
	v.lastUse = a.uses
	if a.by == nil {
		a.by = map[route.Constraints]*view{}
	}
	a.by[c] = v
	a.held += len(v.members)
}

// forgetOne drops the view that was not used for longest, other than that of
// all members.
func (a *views) forgetOne() {
	var oldest route.Constraints
	for c, v := range a.by {
		if c != (route.Constraints{}) && (oldest == route.Constraints{} || v.lastUse < a.by[oldest].lastUse) {
			oldest = c
		}
	}
	a.held -= len(a.by[oldest].members)
	a.by[oldest].forgotten.Store(true)
	delete(a.by, oldest)
}

// view returns the members that meet the constraints. If it has to be made, that
// is done at the pace of b.
func (s *snapshot) view(c route.Constraints, strategy Strategy, b *breath) *view {
	if c == (route.Constraints{}) {
		return s.all
	}
	if v := s.views.find(c); v != nil {
		return v
	}
	s.views.making.Lock()
	defer s.views.making.Unlock()
	if v := s.views.find(c); v != nil {
		return v
	}
	v := newView(s.proxies, s.candidates(c), c, strategy, b)
	if len(v.members) == 0 {
		v.lacking = s.lacking(c)
	}
	s.views.add(c, v, b)
	return v
}

// prepare makes the views that the snapshot before has, so that no client pays for
// a reload.
func (s *snapshot) prepare(before *snapshot, strategy Strategy, b *breath) {
	for _, c := range before.views.constraints() {
		s.view(c, strategy, b)
	}
}

func (a *views) constraints() []route.Constraints {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Collect(maps.Keys(a.by))
}

// fits says whether the proxy meets the constraints.
func (m *Proxy) fits(c route.Constraints) bool {
	if c.Proxy == string(m.ID) {
		c.Proxy = ""
	}
	return m.Spec.Matches(c)
}
