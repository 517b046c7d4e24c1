package pool

import (
	"slices"
	"strconv"
	"strings"

	"swivel/breaker"
)

// Scheme is the protocol spoken to a proxy. The zero value is HTTP.
type Scheme uint8

// The schemes of a proxy list. SOCKS5 and SOCKS5H differ in spelling only:
// names are always resolved by the proxy. SOCKS4 and SOCKS4A likewise.
const (
	HTTP Scheme = iota
	HTTPS
	SOCKS4
	SOCKS4A
	SOCKS5
	SOCKS5H
	// Direct is no proxy at all: the target itself is connected. No list can
	// say it.
	Direct
)

// Spec is one proxy as its list describes it: immutable once parsed. Printing
// one shows no credentials, and neither does its JSON form.
type Spec struct {
	// The small fields come first, in one word: there may be a hundred thousand.
	Scheme      Scheme
	HasAuth     bool // a user was named, possibly with an empty password
	Insecure    bool // https: do not verify the proxy's certificate
	Rotating    bool // a gateway whose exit changes per connection
	RotatingSet bool // the line says whether it rotates, so nobody need guess
	Port        uint16

	Host     string // name or IP literal without brackets, lower case
	User     string `json:"-"` // may hold {session} and the like, filled per attempt
	Password Secret `json:"-"` // as User; SOCKS4 has no field to send it in

	Weight      float64 // 1 when the line says nothing, 0 drains
	Name        string
	Provider    string
	Region      string
	Country     string
	City        string
	Tags        []string
	MaxInFlight int     // 0: no limit
	Rate        float64 // exchanges a second, 0: no limit
	SNI         string  // https: server name instead of Host
	CA          string  // https: file with the certificates to trust instead of the system's

	Breaker breaker.Overrides
}

// same says whether the lists say the same with both.
func (s *Spec) same(t *Spec) bool {
	return s.Scheme == t.Scheme && s.HasAuth == t.HasAuth && s.Insecure == t.Insecure &&
		s.Rotating == t.Rotating && s.RotatingSet == t.RotatingSet && s.Port == t.Port &&
		s.Host == t.Host && s.User == t.User && s.Password == t.Password &&
		s.Weight == t.Weight && s.Name == t.Name && s.Provider == t.Provider &&
		s.Region == t.Region && s.Country == t.Country && s.City == t.City &&
		slices.Equal(s.Tags, t.Tags) && s.MaxInFlight == t.MaxInFlight && s.Rate == t.Rate &&
		s.SNI == t.SNI && s.CA == t.CA && s.Breaker == t.Breaker
}

// Address returns what to dial: "host:port", an IPv6 host in brackets.
func (s *Spec) Address() string { return string(s.appendAddress(nil)) }

func (s *Spec) appendAddress(b []byte) []byte {
	if strings.IndexByte(s.Host, ':') >= 0 {
		b = append(append(append(b, '['), s.Host...), ']')
	} else {
		b = append(b, s.Host...)
	}
	return strconv.AppendUint(append(b, ':'), uint64(s.Port), 10)
}

// Label returns what to call the proxy in logs and pages: its name, else its
// address. It never holds credentials, and it need not be unique.
func (s *Spec) Label() string {
	if s.Name != "" {
		return s.Name
	}
	return s.Address()
}

// AppendLabel appends the label to dst.
func (s *Spec) AppendLabel(dst []byte) []byte {
	if s.Name != "" {
		return append(dst, s.Name...)
	}
	return s.appendAddress(dst)
}

// String returns the proxy's URI with its credentials redacted.
func (s Spec) String() string {
	auth := ""
	if s.HasAuth {
		auth = redacted + "@"
	}
	return s.Scheme.String() + "://" + auth + s.Address()
}

// GoString returns what String does, so that %#v leaks no user name either.
func (s Spec) GoString() string { return s.String() }
