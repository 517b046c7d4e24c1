package daemon

import (
	"errors"
	"fmt"
	"os"

	"swivel/cmd/swivel/internal/front"
	"swivel/pool"
)

// Lists is what the list files say together.
type Lists struct {
	Specs   []pool.Spec
	Skipped []SkippedLine
	Merged  int // exact duplicates, whose weights were added up
}

// SkippedLine is a line that is not used.
type SkippedLine struct {
	File string
	pool.LineError
}

// ReadLists reads the files. A file that cannot be read, or holds nothing
// usable, is an error; all such errors are joined.
func ReadLists(files []string) (Lists, error) {
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
		all.Specs = append(all.Specs, list.Specs...)
		all.Merged += list.Merged
	}
	if len(files) == 0 {
		problems = append(problems, errors.New("proxies: no list given; use --proxies FILE (proxies.example.txt shows the form)"))
	}
	merged, duplicates := pool.Merge(all.Specs)
	all.Specs = merged
	all.Merged += duplicates
	return all, errors.Join(problems...)
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
