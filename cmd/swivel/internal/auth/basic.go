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
	scheme, encoded, _ := strings.Cut(value, " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", nil
	}
	plain, err := base64.StdEncoding.DecodeString(strings.TrimLeft(encoded, " "))
	if err != nil {
		return "", "", ErrMalformed
	}
	user, password, ok := strings.Cut(string(plain), ":")
	if !ok || strings.ContainsFunc(user, isControl) || strings.ContainsFunc(password, isControl) {
		return "", "", ErrMalformed
	}
	return user, password, nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
