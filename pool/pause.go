package pool

import "time"

// Pause is an operator's word that a proxy is not to be used, whatever its
// breaker says. There is deliberately no opposite: a breaker cannot be forced
// closed, it closes when the proxy has proved itself.
type Pause struct {
	Reason string
	By     string
	At     time.Time
	// Drain: it is put aside to run dry, as a proxy of weight 0 is. That makes no
	// difference to what it gets.
	Drain bool
}

// Pause takes the proxies out of use: no new exchange gets them, those under way
// finish.
func (p *Pool) Pause(members []*Proxy, why Pause) {
	for _, m := range members {
		m.paused.Store(&why)
		p.current.Load().refresh(m)
	}
}

// Resume puts the proxies back into use, as their breakers have it, and returns
// how many had been paused.
func (p *Pool) Resume(members []*Proxy) int {
	n := 0
	for _, m := range members {
		if m.paused.Swap(nil) != nil {
			p.current.Load().refresh(m)
			p.Free()
			n++
		}
	}
	return n
}

// Paused returns why the proxy is paused, nil if it is not.
func (p *Proxy) Paused() *Pause { return p.paused.Load() }

// Tagged returns the members with the tag.
func (p *Pool) Tagged(tag string) (members []*Proxy) {
	for _, m := range p.Proxies() {
		for _, t := range m.Spec.Tags {
			if t == tag {
				members = append(members, m)
				break
			}
		}
	}
	return members
}
