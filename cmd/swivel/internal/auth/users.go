package auth

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"swivel/cmd/swivel/internal/namedfile"
)

// Users are who may use the daemon, with the bcrypt hashes of their passwords.
// They do not change once they are read. The zero value has nobody.
type Users struct {
	hashes map[string][]byte
	// decoy is the hash that takes the longest to check: the password of a user
	// that does not exist is checked against it, so that the time an answer
	// takes does not tell names.
	decoy     []byte
	decoyCost int
}

// Len is how many users there are.
func (u *Users) Len() int { return len(u.hashes) }

// Has says whether there is a user of the name.
func (u *Users) Has(name string) bool { return u.hashes[name] != nil }

// Read makes users of entries NAME:HASH and of the lines of a htpasswd file, if
// file is not "". All problems are reported, joined: each says which entry or
// line it means and shows nothing of it.
func Read(entries []string, file string) (*Users, error) {
	u := &Users{hashes: map[string][]byte{}}
	var problems []error
	for i, entry := range entries {
		if err := u.add(entry); err != nil {
			problems = append(problems, fmt.Errorf("users: entry %d: %w", i+1, err))
		}
	}
	if file != "" {
		problems = append(problems, u.readFile(file)...)
	}
	return u, errors.Join(problems...)
}

func (u *Users) readFile(file string) (problems []error) {
	text, err := namedfile.Read(file)
	if err != nil {
		return []error{fmt.Errorf("users_file: cannot read %s: %w", file, err)}
	}
	before, n := u.Len(), 0
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		n++
		line = strings.TrimSpace(line) // what an editor leaves is no part of a name or a hash
		if line == "" || line[0] == '#' {
			continue
		}
		if err := u.add(line); err != nil {
			problems = append(problems, fmt.Errorf("users_file: %s: line %d: %w", file, n, err))
		}
	}
	if len(problems) == 0 && u.Len() == before {
		problems = append(problems, fmt.Errorf("users_file: %s holds no user; add one with: htpasswd -B %s NAME", file, file))
	}
	return problems
}

// bcryptHash is $2y$, the cost, 22 characters of salt and 31 of hash. $2a and
// $2b are the same computation; $2x is that of a faulty implementation.
var bcryptHash = regexp.MustCompile(`^\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}$`)

// The costs that are accepted are those that htpasswd can make: with 17 a check
// takes some ten seconds.
const (
	minCost = 4
	maxCost = 17
)

func (u *Users) add(entry string) error {
	name, hash, ok := strings.Cut(entry, ":")
	parts := bcryptHash.FindStringSubmatch(hash)
	switch {
	case !ok:
		return errors.New("want NAME:HASH; make one with: htpasswd -nB NAME")
	case name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("the name is empty or not plain text")
	case parts == nil:
		return errors.New("want a bcrypt hash behind the name, and nothing else; make one with: htpasswd -nB NAME")
	case u.hashes[name] != nil:
		return errors.New("a user of this name is there already")
	}
	cost, _ := strconv.Atoi(parts[1])
	if cost < minCost || cost > maxCost {
		return fmt.Errorf("the cost of the bcrypt hash is %d, want %d to %d", cost, minCost, maxCost)
	}
	u.hashes[name] = []byte(hash)
	if cost > u.decoyCost {
		u.decoy, u.decoyCost = u.hashes[name], cost
	}
	return nil
}
