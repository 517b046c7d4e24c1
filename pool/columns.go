package pool

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
)

var errColumns = errors.New("what is behind the port may be a login: write host:port:user:pass if it is one, delete it if not; or put a header in front (ip, port, user, password), with tabs throughout")

// anonymity are the words of free lists that no other table has.
var anonymity = []string{"elite", "anonymous", "anonymity", "transparent", "distorting", "hia", "noa", "anm"}

// columns reads what follows the host in "host port [column ...]", as a table is
// when it was copied from a page; ok is false if it is none, and nothing is taken then.
func (w *words) columns(host string) (a address, ok bool, err error) {
	if !standsBeforePort(host) {
		return address{}, false, nil
	}
	if strings.IndexByte(host, ':') >= 0 && host[0] != '[' {
		host = "[" + host + "]" // the blank tells host from port
	}
	ahead := *w
	if a.endpoint, err = parseEndpoint(host+":"+ahead.next(), 0); err != nil {
		return address{}, false, nil
	}
	a.scheme, err = ahead.otherColumns()
	*w = ahead
	return a, true, err
}

// standsBeforePort reports whether a number behind the word can be its port: prose
// has numbers behind words without dots.
func standsBeforePort(word string) bool {
	if strings.IndexByte(word, ':') < 0 {
		return strings.IndexByte(strings.TrimSuffix(word, "."), '.') > 0
	}
	_, err := netip.ParseAddr(strings.Trim(word, "[]"))
	return err == nil
}

// otherColumns reads what a table has behind the port, up to the first key=value,
// and returns the protocol that it names. Other columns are left out only if they
// cannot be a login: each is of a kind that is known, or they are at least three
// and one of them grades anonymity.
func (w *words) otherColumns() (Scheme, error) {
	var r record
	all, known, graded := 0, 0, false
	for {
		ahead := *w
		word := ahead.next()
		if word == "" || isFlag(word) || strings.IndexByte(word, '=') >= 0 {
			break
		}
		*w = ahead
		all++
		grade := isOneOf(word, anonymity)
		graded = graded || grade
		if grade || saysLittle(word) || mayBeProtocol(word) && r.addTypes(word) {
			known++
		}
	}
	if known < all && (!graded || all < 3) {
		return HTTP, errColumns
	}
	scheme, _, err := r.protocol()
	return scheme, err
}

// saysLittle reports whether a column is a country's two letters, yes or no, or a
// time or share with its unit.
func saysLittle(word string) bool {
	if len(word) == 2 && 'A' <= word[0] && word[0] <= 'Z' && 'A' <= word[1] && word[1] <= 'Z' {
		return true
	}
	unit := strings.TrimLeft(word, "0123456789.")
	if len(unit) < len(word) {
		return unit == "ms" || unit == "s" || unit == "%"
	}
	return isOneOf(word, fillers)
}

// fillers are columns that only say whether something is so.
var fillers = []string{"yes", "no", "+", "-"}

// isOneOf reports whether word, in any case, is among the words.
func isOneOf(word string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) })
}

// mayBeProtocol spares most words of a long table a closer look: names of protocols
// begin with h or s.
func mayBeProtocol(word string) bool { return word[0]|0x20 == 'h' || word[0]|0x20 == 's' }
