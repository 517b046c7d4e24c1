package pool

import (
	"bytes"
	"errors"
	"strings"
)

// The faults of text that people take for a list.
var (
	errPage      = errors.New("this is a web page (HTML), no list: copy its text, not its source, or take the address of the list itself")
	errMarkup    = errors.New("the line holds HTML tags: copy the text of the page, not its source")
	errSeparated = errors.New("the address goes on behind a comma, semicolon or |: write one proxy a line, as host:port or host:port:user:pass, or put a header in front, such as ip,port,user,password")
	errInFront   = errors.New("the address is not the first word of the line: delete what is in front of it")
	errApart     = errors.New("the address has blanks in it: write host:port, the port being a number from 1 to 65535")
	errReversed  = errors.New("host and port are in front of the @: write user:pass@host:port")
)

// advice returns what helps more than err, the fault of a line's first word, when it
// can be told what the line is. It quotes nothing either.
func (w *words) advice(first string, err error) error {
	switch {
	case isMarkup(first):
		return errMarkup
	case isSeparated(first):
		return errSeparated
	case err == errNoPort && !isASCII(first):
		return errIDN
	case w.goesOn(first):
		return errApart
	case w.addressNext():
		return errInFront
	}
	return err
}

func isMarkup(word string) bool {
	tag := strings.IndexByte(word, '<')
	return tag == 0 || tag > 0 && strings.IndexByte(word[tag:], '>') > 0
}

// isPage says whether a list that begins so is a whole page, as a vendor's log-in is:
// an address somewhere in it does not make it a list.
func isPage(start []byte) bool {
	start = bytes.ToLower(bytes.TrimSpace(start))
	for _, tag := range [...]string{"<!doctype", "<!--", "<?xml", "<html", "<head", "<body"} {
		if bytes.HasPrefix(start, []byte(tag)) {
			return true
		}
	}
	return false
}

// isSeparated reports whether a host, with or without a port, ends at a separator
// of tables.
func isSeparated(word string) bool {
	end := strings.IndexAny(word, ",;|")
	if end < 0 {
		return false
	}
	_, head, _, _ := cutScheme(strings.Trim(word[:end], `'"([{}])`))
	_, err := parseEndpoint(head, 1)
	return err == nil
}

// goesOn reports whether the next word looks like a part of the address.
func (w *words) goesOn(first string) bool {
	ahead := *w
	next := ahead.next()
	return next != "" && (strings.HasSuffix(first, ":") || next[0] == ':' || next[0] == '@' || strings.Trim(next, "0123456789") == "")
}

// addressNext reports whether the next word is a whole address.
func (w *words) addressNext() bool {
	ahead := *w
	next := ahead.next()
	if strings.IndexByte(next, ':') < 0 {
		return false
	}
	_, err := parseAddress(next)
	return err == nil || err == errInFront
}

// isAssignment reports whether text, which stands before ://, is that of
// http_proxy=http://proxy.example:8080, as shells have it.
func isAssignment(text string) bool {
	name, value, found := strings.Cut(text, "=")
	_, known := lookupScheme(value)
	return found && known && name != "" && isVariable(name)
}
