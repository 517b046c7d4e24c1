package auth

import (
	"encoding/base64"
	"errors"
	"strings"
)

// ErrMalformed means Basic credentials that cannot be read.
var ErrMalformed = errors.New("auth: malformed credentials")

// Basic reads the value of a Proxy-Authorization field (RFC 7617 section 2). A
// scheme other than Basic gives empty strings. The error is ErrMalformed.
func Basic(value string) (user, password string, err error) {
	plain, err := decode(value)
	if plain == "" && err == nil {
		return "", "", nil
	}
	user, password, ok := strings.Cut(plain, ":")
	if err != nil || !ok || strings.ContainsFunc(user, isControl) || strings.ContainsFunc(password, isControl) {
		return "", "", ErrMalformed
	}
	return user, password, nil
}

// Name is the user name of credentials whose password nobody checks: that may
// hold anything, as the line end that echo adds, or be missing with its colon.
// What cannot be decoded has no name.
func Name(value string) string {
	plain, _ := decode(value)
	name, _, _ := strings.Cut(plain, ":")
	return name
}

// decode returns what Basic credentials are, and nothing for another scheme.
func decode(value string) (plain string, err error) {
	scheme, encoded, _ := strings.Cut(value, " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", nil
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimLeft(encoded, " "))
	if err != nil || len(decoded) == 0 {
		return "", ErrMalformed
	}
	return string(decoded), nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
