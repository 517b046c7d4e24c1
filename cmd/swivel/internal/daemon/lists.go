package daemon

import (
	"fmt"
	"strings"

	"swivel/breaker"
	"swivel/pool"
	"swivel/pool/spelling"
	"swivel/pool/upstream"
)

// Lists is what the list files say together.
type Lists struct {
	Specs   []*pool.Spec
	Skipped []SkippedLine
	Merged  int // exact duplicates, whose weights were added up
	// Notes say what is special about lines that are used, for config check.
	Notes []string
	// Unfinished names a file whose last line has no end, as a file has that is
	// still being written; "" if there is none.
	Unfinished string
	// Stale says of which lists an earlier state is used, and why.
	Stale []error
	// Unkept says which lists could not be kept for the next start, and why.
	Unkept []error
}

// Reasons counts the lines that are not used by why they are not.
func (l *Lists) Reasons() map[string]int {
	if len(l.Skipped) == 0 {
		return nil
	}
	counts := make(map[string]int)
	for _, s := range l.Skipped {
		counts[s.Reason]++
	}
	return counts
}

// SkippedLine is a line that is not used. Line is 0 when the reason names the
// proxy instead.
type SkippedLine struct {
	File string
	pool.LineError
}

// Error says where the line is, and why it is not used.
func (s SkippedLine) Error() string {
	if s.Line == 0 {
		return s.File + ": " + s.Reason
	}
	return s.File + ": " + s.LineError.Error()
}

// add takes in what a list says, whose memory it reuses.
func (l *Lists) add(file string, list pool.List, base breaker.Settings, problems *[]error) {
	usable, refused := keepUsable(list, base)
	for _, one := range refused {
		l.Skipped = append(l.Skipped, SkippedLine{file, one})
	}
	if len(usable) == 0 {
		*problems = append(*problems, fmt.Errorf("proxies: %w: no usable proxy is left", SkippedLine{file, refused[0]}))
	}
	if l.Specs == nil { // a large list is not copied for nothing
		l.Specs = usable
	} else {
		l.Specs = append(l.Specs, usable...)
	}
	l.Merged += list.Merged
	l.Notes = append(l.Notes, notes(file, list)...)
	if list.Unfinished {
		l.Unfinished = file
	}
}

// notes says which lines are more proxies than one, which are templates, and what
// of a table is not used.
func notes(file string, list pool.List) (all []string) {
	if list.Ranges > 0 {
		all = append(all, fmt.Sprintf("%s: %s %d proxies", file,
			spelling.Counted(list.Ranges, "line with a range of ports is", "lines with a range of ports are"), list.Ranged))
	}
	for _, t := range list.Templates {
		all = append(all, fmt.Sprintf("%s: %s: its credentials are a template: {%s}", file, t.Place, strings.Join(t.Names, "}, {")))
	}
	if len(list.Ignored) > 0 {
		all = append(all, fmt.Sprintf("%s: columns that mean nothing here: %s", file, strings.Join(list.Ignored, ", ")))
	}
	return all
}

// keepUsable leaves out the proxies that cannot work as their lines have them, and
// says why. base is valid. It reuses the memory of the list.
func keepUsable(list pool.List, base breaker.Settings) (usable []*pool.Spec, refused []pool.LineError) {
	usable = list.Specs[:0]
	authorities := make(caFaults)
	for _, s := range list.Specs {
		var err error
		if s.Rotating || s.Breaker != (breaker.Overrides{}) {
			err = pool.SettingsOf(s, base).Validate()
		}
		if err == nil && s.CA != "" {
			err = authorities.of(s.CA)
		}
		if err != nil {
			why := pool.LineError{Place: list.PlaceOf(s), Reason: strings.ReplaceAll(err.Error(), "\n", "; ")}
			if why.Line == 0 {
				why.Reason = s.Label() + ": " + why.Reason
			}
			refused = append(refused, why)
			continue
		}
		usable = append(usable, s)
	}
	return usable, refused
}

// caFaults remembers what is wrong with CA files: thousands of lines may name one.
type caFaults map[string]error

// of says what keeps a file from being used, nil if nothing does.
func (c caFaults) of(path string) error {
	fault, known := c[path]
	if !known {
		if fault = upstream.CheckCA(path); fault != nil {
			fault = fmt.Errorf("ca: cannot read %s: %w", path, fault)
		}
		c[path] = fault
	}
	return fault
}
