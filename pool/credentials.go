package pool

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// The faults of credentials. None quotes them, nor any fragment of them, as
// the errors of net/url do.
var (
	errEscape   = errors.New("bad percent escape in the credentials: write a plain % as %25")
	errEmpty    = errors.New("the credentials are empty once their variables are filled in")
	errNUL      = errors.New("socks4 cannot send credentials that hold a NUL")
	errForeign  = errors.New("a list from a URL may not use the environment; a password that has ${ in it is written with %24{, in the form user:password@host")
	errTooLarge = errors.New("socks5 cannot send a user or password of more than 255 bytes")
)

// Env looks a variable of the environment up; os.LookupEnv is one. A nil Env is for
// lists that somebody else writes: what uses a variable is refused.
type Env func(name string) (value string, found bool)

// maxVariable is how long the name of a variable may be; the limit keeps the
// search for its end short in a line full of "${".
const maxVariable = 64

// credentials are user and password as the line holds them.
type credentials struct {
	user, password string
	encoded        bool // percent escapes mean something: it was not a colon form
}

// fillIn puts the credentials into s as they go over the wire. A line that
// leaves both empty, as exports with blank columns do, has none.
//
// Control bytes can only come from escapes or variables here, so they are
// meant, and they are harmless: http sends credentials in base64 and socks5
// with their length. socks4 ends its field with a NUL and cannot send one.
func (c credentials) fillIn(s *Spec, env Env) error {
	if c.user == "" && c.password == "" {
		return nil
	}
	user, err := resolve(c.user, c.encoded, env)
	if err != nil {
		return err
	}
	password, err := resolve(c.password, c.encoded, env)
	if err != nil {
		return err
	}
	if user == "" && password == "" {
		return errEmpty
	}
	s.User, s.Password, s.HasAuth = user, Secret(password), true
	return sendable(s.Scheme, user, password)
}

// sendable checks the limits that a protocol sets on credentials.
func sendable(scheme Scheme, user, password string) error {
	switch scheme.canonical() {
	case SOCKS4:
		if strings.IndexByte(user, 0) >= 0 || strings.IndexByte(password, 0) >= 0 {
			return errNUL
		}
	case SOCKS5: // RFC 1929 has one byte for each length
		if len(shortest(user)) > 255 || len(shortest(password)) > 255 {
			return errTooLarge
		}
	}
	return nil
}

// resolve decodes percent escapes once, when the form has them, and puts in
// the values of ${NAME}. A value is taken as it is: neither an escape nor a
// variable means anything in it.
func resolve(text string, encoded bool, env Env) (string, error) {
	if !strings.Contains(text, "${") {
		return unescape(text, encoded)
	}
	var b strings.Builder
	for text != "" {
		literal, name, rest := cutVariable(text)
		literal, err := unescape(literal, encoded)
		if err != nil {
			return "", err
		}
		b.WriteString(literal)
		if name != "" {
			if env == nil {
				return "", errForeign
			}
			value, found := env(name)
			if !found {
				return "", unset(name)
			}
			b.WriteString(value)
		}
		text = rest
	}
	return b.String(), nil
}

func unescape(text string, encoded bool) (string, error) {
	if !encoded {
		return text, nil
	}
	text, err := url.PathUnescape(text)
	if err != nil {
		return "", errEscape
	}
	return text, nil
}

// cutVariable cuts text around its first ${NAME}. Without one, all of it is
// literal: a $ that starts no variable stands for itself.
func cutVariable(text string) (literal, name, rest string) {
	for from := 0; ; {
		i := strings.Index(text[from:], "${")
		if i < 0 {
			return text, "", ""
		}
		start := from + i + len("${")
		length := strings.IndexByte(text[start:min(start+maxVariable+1, len(text))], '}')
		if length > 0 && isVariable(text[start:start+length]) {
			return text[:start-len("${")], text[start : start+length], text[start+length+1:]
		}
		from = start
	}
}

// isVariable reports whether name is one that a shell could set.
func isVariable(name string) bool {
	for i := range len(name) {
		if c := name[i]; !isLetter(c) && c != '_' && (i == 0 || !isDigit(c)) {
			return false
		}
	}
	return true
}

// unset names a variable that is not set, unless the name looks as if it were a part
// of the password: those of variables are in capitals.
func unset(name string) error {
	if name != strings.ToUpper(name) {
		return errors.New("an environment variable in the credentials is not set; a password that has ${ in it is written with %24{, in the form user:password@host")
	}
	return fmt.Errorf("the environment variable %s is not set", name)
}
