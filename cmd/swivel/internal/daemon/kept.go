package daemon

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"swivel/pool"
)

// keptList is what a URL said last.
type keptList struct {
	version version
	list    pool.List
}

// keptName is the file that a URL's list is kept in. The URL itself is often a
// secret, which nobody needs to see in a folder.
func keptName(source string) string {
	sum := sha256.Sum256([]byte(source))
	return hex.EncodeToString(sum[:16])
}

// load reads what a URL said in an earlier life; ok is false if nothing usable
// was kept.
func (s *Sources) load(source string) (kept keptList, ok bool) {
	if s.dir == "" {
		return kept, false
	}
	text, err := os.ReadFile(filepath.Join(s.dir, keptName(source)))
	if err != nil {
		return kept, false
	}
	head, body, _ := bytes.Cut(text, []byte("\n"))
	if json.Unmarshal(head, &kept.version) != nil {
		return keptList{}, false
	}
	kept.list, err = parseFetched(bytes.NewReader(body))
	return kept, err == nil
}

// store keeps a list for the next start: its version as a line of JSON, then the
// list as it came. It replaces the file at once, and nobody else may read it,
// since lists hold credentials.
func (s *Sources) store(source string, v version, body []byte) (err error) {
	if s.dir == "" || s.looks {
		return nil
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.dir, "new-") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // unless it was renamed
	head, _ := json.Marshal(v)
	_, err = f.Write(slices.Concat(head, []byte("\n"), body))
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(s.dir, keptName(source)))
}

// tidy forgets the lists of URLs that are no longer asked: these are the sources that
// count from now on.
func (s *Sources) tidy(sources []string) {
	maps.DeleteFunc(s.kept, func(source string, _ keptList) bool { return !slices.Contains(sources, source) })
	if s.dir == "" {
		return
	}
	entries, _ := os.ReadDir(s.dir) // there may be none
	for _, e := range entries {
		asked := slices.ContainsFunc(sources, func(source string) bool { return keptName(source) == e.Name() })
		if _, err := hex.DecodeString(e.Name()); !asked && err == nil {
			_ = os.Remove(filepath.Join(s.dir, e.Name()))
		}
	}
}
