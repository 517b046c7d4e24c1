package pool

import "fmt"

// Place is where something stands in a list. The zero value is nowhere.
type Place struct {
	Line    int // counted from 1
	Element int // of a JSON array, all of which may be one line, counted from 1; 0 in other lists
}

// String returns the place as messages name it: "line 3", "line 1, element 7".
func (p Place) String() string {
	if p.Element == 0 {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("line %d, element %d", p.Line, p.Element)
}

// lined is a proxy, and where it stands.
type lined struct {
	spec *Spec
	at   Place
}

// here is the place of what was read last.
func (l *List) here() Place { return Place{l.Lines, l.element} }

// PlaceOf returns the place of the line that gives a proxy of the list a file or
// breaker settings, which only its user can check; nowhere if none does.
func (l *List) PlaceOf(s *Spec) Place {
	if l.places == nil {
		l.places = make(map[identity]Place, len(l.particular))
		for _, p := range l.particular {
			if _, known := l.places[p.spec.identity()]; !known {
				l.places[p.spec.identity()] = p.at
			}
		}
	}
	return l.places[s.identity()]
}

// LineError is a line that was refused. It holds no credentials, nor any other
// text of the line but the few names that ParseLine's errors have.
type LineError struct {
	Place
	Reason string
}

// Error returns the line's place and the reason.
func (e LineError) Error() string { return e.Place.String() + ": " + e.Reason }
