package pool

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"swivel/breaker"
)

var (
	errNoAddress = errors.New("there is no proxy: it takes a host and a port, or an address that holds both")
	errBehind    = errors.New("the address goes on behind a blank")
)

// record is a proxy as a table or an object describes it, field by field.
// Credentials are taken as they are, except for variables and for escapes in an
// address that is a URI.
type record struct {
	address        string // in any form of a list line
	scheme         string
	protocols      []string // all that it speaks
	types          []string // what its type says of that
	host, port     string
	user, password string
	keys           []field // of a list line
}

type field struct{ name, value string }

// columnNames are what exports call the parts of an address, and keys that a
// list line calls otherwise.
var columnNames = map[string]string{
	"proxy": "address", "url": "address", "uri": "address", "server": "address", "address": "address", "proxy_url": "address",
	"ip:port": "address", "host:port": "address",
	"scheme": "scheme", "protocol": "scheme", "proxy_type": "scheme",
	"protocols": "protocols", "type": "type",
	"host": "host", "hostname": "host", "ip": "host", "ip_address": "host", "proxy_address": "host", "proxy_host": "host",
	"port": "port", "proxy_port": "port",
	"user": "user", "username": "user", "login": "user", "proxy_user": "user", "proxy_username": "user",
	"password": "password", "pass": "password", "proxy_password": "password", "proxy_pass": "password",
	"country_code": "country", "city_name": "city", "tags": "tag",
}

// columnName returns what a column means; ok is false if it means nothing here.
func columnName(text string) (name string, ok bool) {
	name = strings.ToLower(strings.Trim(text, ` "`+"\t\r\n\ufeff"))
	name = strings.NewReplacer(" ", "_", "-", "_").Replace(name)
	if known, ok := columnNames[name]; ok {
		return known, true
	}
	if _, ok := setters[name]; ok {
		return name, true
	}
	known, _ := new(breaker.Overrides).Set(name, "")
	return name, known
}

// set puts a value into the field of that name, as columnName returns it, and says
// whether it means something there. An empty one says nothing.
func (r *record) set(name, value string) (means bool) {
	value = strings.TrimSpace(value)
	if value == "" {
		return true
	}
	switch name {
	case "address":
		r.address = value
	case "scheme":
		r.scheme = value
	case "protocols":
		r.protocols = append(r.protocols, protocolsIn(value)...)
	case "type":
		return r.addTypes(value)
	case "host":
		r.host = value
	case "port":
		r.port = value
	case "user":
		r.user = value
	case "password":
		r.password = value
	default:
		r.keys = append(r.keys, field{name, value})
	}
	return true
}

// appendSpecs appends the proxies of the record to specs.
func (r *record) appendSpecs(specs []*Spec, env Env) ([]*Spec, error) {
	for _, text := range []string{r.address, r.scheme, r.host, r.port, r.user, r.password} {
		if hasControl(text) {
			return specs, errControl
		}
	}
	a, err := r.parseAddress()
	if err != nil {
		return specs, err
	}
	spec := Spec{Scheme: a.scheme, Host: a.host, Weight: 1}
	if err := a.fillIn(&spec, env); err != nil {
		return specs, err
	}
	if err := r.setKeys(&spec); err != nil {
		return specs, err
	}
	spec.assumeRotating()
	return appendPorts(specs, &spec, a.endpoint)
}

// parseAddress puts the address together.
func (r *record) parseAddress() (a address, err error) {
	host := r.host
	if host == "" && r.port != "" {
		host, r.address = r.address, "" // some call the host so
	}
	switch {
	case host != "":
		a, err = r.fromParts(host)
	case r.address != "":
		a, err = r.fromAddress()
	default:
		return address{}, errNoAddress
	}
	if err == nil && (r.user != "" || r.password != "") {
		a.credentials = credentials{user: r.user, password: r.password}
	}
	return a, err
}

func (r *record) fromAddress() (address, error) {
	w := words{rest: r.address}
	a, err := w.address()
	if err == nil && w.next() != "" {
		return address{}, errBehind
	}
	if err != nil || strings.Contains(r.address, "://") {
		return a, err
	}
	scheme, named, err := r.protocol()
	if named {
		a.scheme = scheme
	}
	return a, err
}

func (r *record) fromParts(host string) (a address, err error) {
	scheme, named, err := r.protocol()
	if err != nil {
		return address{}, err
	}
	a.scheme = scheme
	if strings.Count(host, ":") > 1 && host[0] != '[' {
		host = "[" + host + "]" // the column tells host from port
	}
	var fallback uint16
	if named {
		fallback = a.scheme.defaultPort()
	}
	if r.port != "" {
		host += ":" + r.port
	}
	a.endpoint, err = parseEndpoint(host, fallback)
	return a, err
}

func (r *record) setKeys(spec *Spec) error {
	for i, f := range r.keys {
		if f.name != "tag" && slices.ContainsFunc(r.keys[:i], func(o field) bool { return o.name == f.name }) {
			return fmt.Errorf("%s stands twice", nameKey(f.name))
		}
		if err := setKey(spec, f.name, f.value); err != nil {
			return err
		}
	}
	return nil
}
