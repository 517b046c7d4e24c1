package daemon

import (
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

// ReadLists reads the files. A file that cannot be read, or holds nothing
// usable, is an error; all such errors are joined. base are the breaker settings
// that lines may override.
func ReadLists(files []string, base breaker.Settings) (Lists, error) {
	var all Lists
	var problems []error
	for _, file := range files {
		list, err := readList(file)
		for _, skipped := range list.Skipped {
			all.Skipped = append(all.Skipped, SkippedLine{file, skipped})
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("proxies: %s: %w", file, err))
			continue
		}
		usable, refused := checkSpecs(list.Specs, base)
		for _, reason := range refused {
			all.Skipped = append(all.Skipped, SkippedLine{file, pool.LineError{Reason: reason}})
		}
		if len(usable) == 0 {
			problems = append(problems, fmt.Errorf("proxies: %s: no usable proxy: %s", file, refused[0]))
		}
		all.Specs = append(all.Specs, usable...)
		all.Merged += list.Merged
		all.Notes = append(all.Notes, notes(file, list)...)
		if list.Unfinished {
			all.Unfinished = file
		}
	}
	if len(files) == 0 {
		problems = append(problems, errors.New("proxies: no list given; use --proxies FILE (proxies.example.txt shows the form)"))
	}
	merged, duplicates := pool.Merge(all.Specs)
	pool.AssumeGateway(merged)
	all.Specs = merged
	all.Merged += duplicates
	return all, errors.Join(problems...)
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

func readList(file string) (pool.List, error) {
	f, err := os.Open(file)
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
