package pool

import (
	"sync"

	"swivel/pool/route"
)

// maxViews bounds the views of one snapshot. Who asks for more different things
// pays for the making of a view now and then, which takes some milliseconds in a
// pool of 100,000.
const maxViews = 256

// views are those of a snapshot that somebody has asked for. They are made when
// they are first needed and forgotten with the snapshot, or when others are
// needed more.
type views struct {
	mu   sync.Mutex // held while views learn who is usable, too
	by   map[route.Constraints]*view
	uses uint64
}

// refresh tells all views whether the member at a place is usable now.
func (a *views) refresh(place int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, v := range a.by {
		v.refresh(place)
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

// add keeps a view and returns the one to use: another one may have been faster.
// What happened while it was made is made up for.
func (a *views) add(c route.Constraints, v *view) *view {
	if kept := a.keep(c, v); kept != v {
		return kept
	}
	v.refreshAll(&a.mu)
	return v
}

// keep keeps a view unless there is one already, and returns the one that there is.
func (a *views) keep(c route.Constraints, v *view) *view {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.by[c]; known != nil {
		return known
	}
	if len(a.by) >= maxViews {
		a.forgetOne()
	}
	a.uses++
	v.lastUse = a.uses
	if a.by == nil {
		a.by = map[route.Constraints]*view{}
	}
	a.by[c] = v
	return v
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
	delete(a.by, oldest)
}

// view returns the members that meet the constraints.
func (s *snapshot) view(c route.Constraints, strategy Strategy) *view {
	if c == (route.Constraints{}) {
		return s.all
	}
	if v := s.views.find(c); v != nil {
		return v
	}
	return s.views.add(c, newView(s.proxies, func(m *Proxy) bool { return m.fits(c) }, strategy))
}

// fits says whether the proxy meets the constraints.
func (m *Proxy) fits(c route.Constraints) bool {
	if c.Proxy == string(m.ID) {
		c.Proxy = ""
	}
	return m.Spec.Matches(c)
}
