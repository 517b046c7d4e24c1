package pool

import "strings"

// placeholder is one of the words that credentials may hold in braces.
type placeholder int

const (
	sessionHole placeholder = iota
	randomHole
	countryHole
	regionHole
	cityHole
	placeholders // how many there are
)

var placeholderNames = [placeholders]string{"session", "random", "country", "region", "city"}

// holes says which placeholders a text has. The zero value is none.
type holes struct {
	has     [placeholders]bool
	escaped bool // a {{word}} to be unescaped
}

// holesOf finds the placeholders of the proxy's credentials.
func (s *Spec) holesOf() (h holes) {
	for _, text := range [...]string{s.User, s.Password.Reveal()} {
		for {
			cut, found := cutPlaceholder(text)
			if !found {
				break
			}
			if cut.escaped {
				h.escaped = true
			} else {
				h.has[cut.hole] = true
			}
			text = cut.after
		}
	}
	return h
}

// cut is a text around its first placeholder.
type cut struct {
	before  string
	hole    placeholder
	escaped bool // it stands for itself
	after   string
}

// cutPlaceholder cuts text around its first placeholder, escaped or not.
func cutPlaceholder(text string) (c cut, found bool) {
	for from := 0; ; from++ {
		open := strings.IndexByte(text[from:], '{')
		if open < 0 {
			return cut{}, false
		}
		from += open
		inner := text[from+1:]
		escaped := strings.HasPrefix(inner, "{")
		if escaped {
			inner = inner[1:]
		}
		hole, after, found := cutName(inner)
		if !found || escaped && !strings.HasPrefix(after, "}") {
			continue
		}
		if escaped {
			after = after[1:]
		}
		return cut{text[:from], hole, escaped, after}, true
	}
}

// cutName takes a placeholder's name and the brace behind it off text.
func cutName(text string) (hole placeholder, after string, found bool) {
	for hole, name := range placeholderNames {
		if rest, ok := strings.CutPrefix(text, name); ok && strings.HasPrefix(rest, "}") {
			return placeholder(hole), rest[1:], true
		}
	}
	return 0, "", false
}
