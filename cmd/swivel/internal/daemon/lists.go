package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/front"
	"swivel/pool"
)

// Lists is what the list files say together.
type Lists struct {
	Specs   []pool.Spec
	Skipped []SkippedLine
	Merged  int // exact duplicates, whose weights were added up
	// Notes say what is special about lines that are used, for config check.
	Notes []string
	// Unfinished names a file whose last line has no end, as a file has that is
	// still being written; "" if there is none.
	Unfinished string
	// Stale says of which lists an earlier state is used, and why.
	Stale []error
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

// Sources reads lists, which are files or URLs, and remembers what those of URLs
// said last. The zero value is ready; one call at a time.
type Sources struct {
	fetched map[string]pool.List
}

// ReadLists reads lists once, as Sources does.
func ReadLists(sources []string, base breaker.Settings) (Lists, error) {
	return new(Sources).Read(context.Background(), sources, base)
}

// Read reads the lists. One that cannot be read, or holds nothing usable, is an
// error, unless it is a URL's that said something before: that counts then. All
// errors are joined. base are the breaker settings that lines may override.
func (s *Sources) Read(ctx context.Context, sources []string, base breaker.Settings) (Lists, error) {
	var all Lists
	var problems []error
	for _, source := range sources {
		file := labelOf(source)
		list, err := s.readList(ctx, source)
		if kept, ok := s.fetched[source]; ok && err != nil {
			all.Stale = append(all.Stale, fmt.Errorf("%s: %w", file, err))
			list, err = kept, nil
		}
		for _, skipped := range list.Skipped {
			all.Skipped = append(all.Skipped, SkippedLine{file, skipped})
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("proxies: %s: %w", file, err))
			continue
		}
		all.add(file, list, base, &problems)
	}
	if len(sources) == 0 {
		problems = append(problems, errors.New("proxies: no list given; use --proxies FILE (proxies.example.txt shows the form)"))
	}
	merged, duplicates := pool.Merge(all.Specs)
	pool.AssumeGateway(merged)
	all.Specs = merged
	all.Merged += duplicates
	return all, errors.Join(problems...)
}

// add takes in what a list says.
func (l *Lists) add(file string, list pool.List, base breaker.Settings, problems *[]error) {
	usable, refused := checkSpecs(list.Specs, base)
	for _, reason := range refused {
		l.Skipped = append(l.Skipped, SkippedLine{file, pool.LineError{Reason: reason}})
	}
	if len(usable) == 0 {
		*problems = append(*problems, fmt.Errorf("proxies: %s: no usable proxy: %s", file, refused[0]))
	}
	l.Specs = append(l.Specs, usable...)
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
		all = append(all, fmt.Sprintf("%s: %d lines with a range of ports are %d proxies", file, list.Ranges, list.Ranged))
	}
	for _, t := range list.Templates {
		all = append(all, fmt.Sprintf("%s: line %d: its credentials are a template: {%s}", file, t.Line, strings.Join(t.Names, "}, {")))
	}
	if len(list.Ignored) > 0 {
		all = append(all, fmt.Sprintf("%s: columns that mean nothing here: %s", file, strings.Join(list.Ignored, ", ")))
	}
	return all
}

// checkSpecs leaves out the proxies that cannot work as their lines have them,
// and says why.
func checkSpecs(specs []pool.Spec, base breaker.Settings) (usable []pool.Spec, refused []string) {
	for i := range specs {
		s := &specs[i]
		err := pool.SettingsOf(s, base).Validate()
		if err == nil && s.CA != "" {
			if _, statErr := os.Stat(s.CA); statErr != nil {
				err = fmt.Errorf("ca: cannot read %s: %w", s.CA, plain(statErr))
			}
		}
		if err != nil {
			refused = append(refused, s.Label()+": "+strings.ReplaceAll(err.Error(), "\n", "; "))
			continue
		}
		usable = append(usable, *s)
	}
	return usable, refused
}

// readList reads a file, or fetches a list and remembers it.
func (s *Sources) readList(ctx context.Context, source string) (pool.List, error) {
	if isURL(source) {
		list, err := fetch(ctx, source)
		if err == nil {
			if s.fetched == nil {
				s.fetched = map[string]pool.List{}
			}
			s.fetched[source] = list
		}
		return list, err
	}
	f, err := os.Open(source)
	if err != nil {
		return pool.List{}, plain(err)
	}
	defer func() { _ = f.Close() }()
	list, err := pool.ParseList(f, os.LookupEnv)
	return list, plain(err)
}

// plain cuts the operation and the path off an error of the os package.
func plain(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// withoutSelf drops proxies that are this process's own listeners: a request
// sent there would come back for ever.
func withoutSelf(specs []pool.Spec, self front.Self) (kept []pool.Spec, dropped int) {
	kept = specs[:0]
	for i := range specs {
		if self.Holds(specs[i].Address()) {
			dropped++
			continue
		}
		kept = append(kept, specs[i])
	}
	return kept, dropped
}
