package pool

import (
	"errors"
	"strings"
)

var (
	errPlainUser  = errors.New("a user behind the port may not hold =: write user:pass@host:port")
	errNoPassword = errors.New("a user behind the port needs a password behind it")
)

// address takes the address: one word, or the several of proxychains and tables.
func (w *words) address() (address, error) {
	first := w.next()
	if scheme, ok := lookupScheme(first); ok {
		return w.proxychains(scheme)
	}
	a, err := parseAddress(first)
	if err == nil {
		return a, nil
	}
	if a, ok, err := w.columns(first); ok {
		return a, err
	}
	return address{}, w.advice(first, err)
}

// proxychains reads what follows the scheme in "socks5 host port [user pass]",
// the form of proxychains.conf.
func (w *words) proxychains(scheme Scheme) (address, error) {
	host, port := w.next(), w.next()
	if strings.IndexByte(host, ':') >= 0 && host[0] != '[' {
		host = "[" + host + "]" // the blank tells host from port
	}
	e, err := parseEndpoint(host+":"+port, 0)
	if err != nil {
		return address{}, err
	}
	c, err := w.login()
	return address{scheme: scheme, endpoint: e, credentials: c}, err
}

// login reads proxychains' user and password, if they are there. What could be
// a mistyped key is refused instead of being sent to the proxy as a user.
func (w *words) login() (credentials, error) {
	ahead := *w
	user := ahead.next()
	if user == "" || isAttribute(user) {
		return credentials{}, nil
	}
	if strings.IndexByte(user, '=') >= 0 {
		return credentials{}, errPlainUser
	}
	password := ahead.next()
	if password == "" || isAttribute(password) {
		return credentials{}, errNoPassword
	}
	*w = ahead
	return credentials{user: user, password: password}, nil
}
