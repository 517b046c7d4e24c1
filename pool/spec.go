package pool

import (
	"net"
	"strconv"

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
	Scheme   Scheme
	Host     string // name or IP literal without brackets, lower case
	Port     uint16
	User     string `json:"-"` // may hold {session} and the like, filled per attempt
	Password Secret `json:"-"` // as User; SOCKS4 has no field to send it in
	HasAuth  bool   // a user was named, possibly with an empty password

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
	Insecure    bool    // https: do not verify the proxy's certificate
	Rotating    bool    // a gateway whose exit changes per connection
	RotatingSet bool    // the line says whether it rotates, so nobody need guess

	Breaker breaker.Overrides
}

// Address returns what to dial: "host:port", an IPv6 host in brackets.
func (s *Spec) Address() string {
	return net.JoinHostPort(s.Host, strconv.Itoa(int(s.Port)))
}

// Label returns what to call the proxy in logs and pages: its name, else its
// address. It never holds credentials, and it need not be unique.
func (s *Spec) Label() string {
	if s.Name != "" {
		return s.Name
	}
	return s.Address()
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
