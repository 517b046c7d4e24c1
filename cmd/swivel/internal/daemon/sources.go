package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"swivel/breaker"
	"swivel/cmd/swivel/internal/namedfile"
	"swivel/pool"
)

// Sources reads lists, which are files or URLs, and remembers what those of URLs
// said last. The zero value is ready, and forgets with the process; one call at a
// time.
type Sources struct {
	dir  string // where lists of URLs are kept for the next start; "": nowhere
	kept map[string]keptList
	seen seenFiles

	beside bool // clients are served meanwhile
	looks  bool // only looks: what is kept for the next start stays as it is
}

// ReadLists reads lists once, as Sources does.
func ReadLists(sources []string, base breaker.Settings) (Lists, error) {
	return new(Sources).Read(context.Background(), sources, base)
}

// LookAtLists is ReadLists as a daemon with this database would find them at its
// start: a list whose URL does not answer is the one that was kept. It changes
// nothing that is kept.
func LookAtLists(sources []string, base breaker.Settings, db string) (Lists, error) {
	s := sourcesOf(db)
	s.looks = true
	return s.Read(context.Background(), sources, base)
}

// sourcesOf remembers beside the database, if that is a file.
func sourcesOf(db string) *Sources {
	if db == ":memory:" {
		return new(Sources)
	}
	return &Sources{dir: db + ".lists"}
}

// Read reads the lists. One that cannot be read, or holds nothing usable, is an
// error, unless it is a URL's that said something before: that counts then. All
// errors are joined. base are the breaker settings that lines may override.
func (s *Sources) Read(ctx context.Context, sources []string, base breaker.Settings) (Lists, error) {
	return s.read(sources, base, func(source string, all *Lists) (pool.List, error) { return s.fetched(ctx, source, all) })
}

// readFiles is Read, but takes what URLs said last for what they say.
func (s *Sources) readFiles(ctx context.Context, sources []string, base breaker.Settings) (Lists, error) {
	return s.read(sources, base, func(source string, all *Lists) (pool.List, error) {
		if kept, ok := s.kept[source]; ok {
			return kept.list, nil
		}
		return s.fetched(ctx, source, all)
	})
}

func (s *Sources) read(sources []string, base breaker.Settings, atURL func(string, *Lists) (pool.List, error)) (Lists, error) {
	var all Lists
	var problems []error
	labels := ListLabels(sources)
	for i, source := range sources {
		file := labels[i]
		if !isURL(source) && isHidden(sources, i) {
			problems = append(problems, hiddenName(i))
			continue
		}
		var list pool.List
		var err error
		if isURL(source) {
			list, err = atURL(source, &all)
			list.Specs = slices.Clone(list.Specs) // it is kept, and add reuses it
		} else {
			list, err = s.readFile(source)
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
		problems = append(problems, errors.New("proxies: no list given; name a file or a URL, with --proxies where a daemon is started (proxies.example.txt shows the form)"))
	}
	if len(sources) > 1 { // one list has none left
		merged, duplicates := pool.Merge(all.Specs)
		all.Specs = merged
		all.Merged += duplicates
	}
	pool.AssumeGateway(all.Specs)
	return all, errors.Join(problems...)
}

func (s *Sources) readFile(path string) (pool.List, error) {
	f, err := namedfile.Open(path)
	if err != nil {
		return pool.List{}, err
	}
	defer func() { _ = f.Close() }()
	if s.beside { // files have no deadline, and need none
		_ = f.SetReadDeadline(time.Now().Add(fetchTimeout))
	} else if err := namedfile.Await(f); err != nil {
		return pool.List{}, err
	}
	if info, err := f.Stat(); err == nil {
		s.seen.note(map[string]fs.FileInfo{path: info})
	}
	list, err := pool.ParseList(s.paced(f), os.LookupEnv)
	return list, namedfile.Reason(err)
}

// paced is how a list is read.
func (s *Sources) paced(r io.Reader) io.Reader {
	if s.beside {
		return pool.Gently(r)
	}
	return r
}

// fetched is what the list at a URL says, or what it said last.
func (s *Sources) fetched(ctx context.Context, source string, all *Lists) (pool.List, error) {
	last, known := s.kept[source]
	if !known {
		last, known = s.load(source)
	}
	fresh, err := s.fetch(ctx, source, last.version, all)
	switch {
	case err == nil:
		last = fresh
	case !known:
		return fresh.list, err
	case !errors.Is(err, errNotModified):
		all.Stale = append(all.Stale, fmt.Errorf("%s: %w", urlLabel(source), err))
	}
	if s.kept == nil {
		s.kept = map[string]keptList{}
	}
	s.kept[source] = last
	return last.list, nil
}

// fetch reads a list anew, and keeps it if it is of use.
func (s *Sources) fetch(ctx context.Context, source string, known version, all *Lists) (keptList, error) {
	body, now, err := fetch(ctx, source, known)
	if err != nil {
		return keptList{}, err
	}
	list, err := parseFetched(s.paced(bytes.NewReader(body)))
	if err == nil {
		if err := s.store(source, now, body); err != nil {
			all.Unkept = append(all.Unkept, fmt.Errorf("%s: %w", urlLabel(source), namedfile.Reason(err)))
		}
	}
	return keptList{now, list}, err
}
