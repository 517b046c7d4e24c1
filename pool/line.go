package pool

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unique"
)

var errControl = errors.New("the line holds a control byte: it is no text, or not UTF-8")

// ParseLine reads one line of a proxy list:
//
//	ADDRESS [key=value ...] [#comment]
//
// ADDRESS is one of
//
//	host:port                     scheme://host       scheme://host:port
//	host:port:user:pass           scheme://host:port:user:pass
//	user:pass@host:port           scheme://user:pass@host
//	user:pass:host:port           socks5 host port [user pass]
//	host port [column ...]
//
// with http for a missing scheme and, where a scheme is written, its default
// port for a missing one. An IPv6 host stands in brackets. A range of ports, as
// in host:10001-10010, gives one Spec for each; they share their Tags.
// A user without a password has an empty one. Of the columns, which tables of free
// lists have, only the name of a protocol is used, and what could be a login is refused.
//
// In the forms with an @ user and password are percent-decoded once; in those
// with colons or blanks they are taken as they are. ${NAME} in either is
// replaced by a variable from env, in which neither escapes nor variables mean
// anything. What is in the credentials then may be a template: see Spec.For.
//
// A blank line or a comment (#, ; or //) gives no specs and no error. Errors
// never quote the line, except for the name of a variable, of a scheme that others
// speak, and of a scheme or key that is nearly one of ours.
func ParseLine(line string, env Env) ([]*Spec, error) {
	p := lineParser{env: env}
	return p.appendSpecs(nil, line)
}

// lineParser reads one line after the other and reuses its memory.
type lineParser struct {
	env    Env
	shared bool     // lines are links as people share them
	seen   []string // the keys met on this line
	spec   Spec     // what this line says so far

	host, user, password repeated
}

// repeated is a text that many lines of a list have in common, one after the
// other: kept once for all of them.
type repeated struct{ text string }

// of returns the text, in memory of its own.
func (r *repeated) of(text string) string {
	if text != r.text {
		r.text = strings.Clone(text)
	}
	return r.text
}

// appendSpecs appends the specs of a line to specs.
func (p *lineParser) appendSpecs(specs []*Spec, line string) ([]*Spec, error) {
	if line = trimmed(line); line != "" {
		line = unquoted(line)
	}
	if line == "" || line[0] == '#' || line[0] == ';' || strings.HasPrefix(line, "//") {
		return specs, nil
	}
	if hasControl(line) {
		return specs, errControl
	}
	name := ""
	if p.shared && strings.Contains(line, "://") {
		line, name = cutShared(line)
	}
	ports, err := p.parse(line)
	if err != nil {
		return specs, err
	}
	fill(&p.spec.Name, name)
	return appendPorts(specs, &p.spec, ports)
}

// hasControl reports whether line holds a control byte other than a tab.
func hasControl(line string) bool {
	for i := range len(line) {
		if c := line[i]; c < ' ' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}

// parse reads a line that is neither blank nor a comment.
func (p *lineParser) parse(line string) (endpoint, error) {
	w := words{rest: line}
	a, err := w.address()
	if err != nil {
		return endpoint{}, err
	}
	p.spec = Spec{Scheme: a.scheme, Host: a.host, Weight: 1}
	if err := a.fillIn(&p.spec, p.env); err != nil {
		return endpoint{}, err
	}
	err = p.attributes(&p.spec, &w)
	p.spec.assumeRotating()
	p.letGo(&p.spec)
	return a.endpoint, err
}

// letGo has the spec keep what it needs of the line's text and nothing else. What
// many lines say is kept once for all of them.
func (p *lineParser) letGo(s *Spec) {
	s.Host, s.User, s.Password = p.host.of(s.Host), p.user.of(s.User), Secret(p.password.of(s.Password.Reveal()))
	s.Name = strings.Clone(s.Name)
	for _, common := range [...]*string{&s.Provider, &s.Region, &s.Country, &s.City, &s.SNI, &s.CA} {
		if *common != "" {
			*common = unique.Make(*common).Value()
		}
	}
	for i, tag := range s.Tags {
		s.Tags[i] = unique.Make(tag).Value()
	}
}

// attributes reads the key=value pairs that w has left.
func (p *lineParser) attributes(spec *Spec, w *words) error {
	p.seen = p.seen[:0]
	for {
		key, value, err := w.pair()
		if key == "" || err != nil {
			return err
		}
		if key != "tag" && slices.Contains(p.seen, key) {
			return fmt.Errorf("%s stands twice", nameKey(key))
		}
		p.seen = append(p.seen, key)
		if err := setKey(spec, key, value); err != nil {
			return err
		}
	}
}
