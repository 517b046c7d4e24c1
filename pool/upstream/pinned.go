package upstream

import (
	"strings"

	"swivel/pool/upstream/http1"
)

// pins says whether a request with these fields makes its connection its client's
// own. With NTLM and Negotiate (RFC 4559) servers authenticate the connection and
// not the request: whoever came next on it would be served as that user.
func pins(f http1.Fields) bool {
	for i := range f {
		if !strings.EqualFold(f[i].Name, "Authorization") {
			continue
		}
		scheme, _, _ := strings.Cut(f[i].Value, " ")
		if strings.EqualFold(scheme, "NTLM") || strings.EqualFold(scheme, "Negotiate") {
			return true
		}
	}
	return false
}

// find returns the place of the idle connection that a request of the client goes on:
// one of its own, else the one that was used last; -1 if there is none. t.mu must be
// held.
func (t *Transport) find(k key, client any) int {
	found := -1
	for i := len(t.idle) - 1; i >= 0; i-- {
		switch s := t.idle[i]; {
		case s.key != k:
		case s.pinned && s.client == client:
			return i
		case !s.pinned && found < 0:
			found = i
		}
	}
	return found
}
