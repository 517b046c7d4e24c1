package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"swivel/cmd/swivel/internal/namedfile"
	"swivel/pool"
)

// leastToken is how long a token has to be, in bytes: what can be guessed is none.
const leastToken = 16

// ReadToken returns what operators have to show: the token itself, or what the
// file holds; "" when neither is given, and nothing has to be shown. Its error
// names the key and never shows the token.
func ReadToken(token pool.Secret, file string) (pool.Secret, error) {
	key := "admin_token"
	switch {
	case token == "" && file == "":
		return "", nil
	case token != "" && file != "":
		return "", errors.New("admin_token: want either this or admin_token_file, not both")
	case file != "":
		key = "admin_token_file: " + file
		text, err := namedfile.Read(file)
		if err != nil {
			return "", fmt.Errorf("admin_token_file: cannot read %s: %w", file, err)
		}
		token = pool.Secret(strings.TrimSpace(string(text)))
	}
	if len(token) < leastToken || strings.ContainsFunc(token.Reveal(), func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s: want at least %d visible characters without blanks, such as openssl rand -hex 32 prints", key, leastToken)
	}
	return token, nil
}

// Authorize puts the token, if there is one, into a request to the admin API.
func Authorize(r *http.Request, token pool.Secret) {
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token.Reveal())
	}
}

// lock is what a token opens. The zero value is open.
type lock struct {
	set  bool
	hash [sha256.Size]byte
}

func newLock(token pool.Secret) lock {
	return lock{set: token != "", hash: sha256.Sum256([]byte(token))}
}

// opens says whether the request shows the token (RFC 6750 section 2.1). The
// time it takes tells nothing of the token, nor of its length.
func (l *lock) opens(r *http.Request) bool {
	if !l.set {
		return true
	}
	scheme, shown, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	hash := sha256.Sum256([]byte(strings.TrimLeft(shown, " ")))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(hash[:], l.hash[:]) == 1
}

// withToken serves only who shows the token.
func (s *Server) withToken(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.lock.opens(r) {
			if r.Header.Get("Authorization") != "" { // who shows none has not guessed
				(*s.operator.Load()).WrongToken(r.RemoteAddr)
			}
			w.Header().Set("WWW-Authenticate", `Bearer realm="swivel admin"`)
			refuse(w, http.StatusUnauthorized, "send Authorization: Bearer and the admin token")
			return
		}
		h(w, r)
	}
}
