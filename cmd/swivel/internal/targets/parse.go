package targets

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Parse reads the entries of both lists:
//
//	example.org          this name
//	.example.org         this name, and all below it
//	192.0.2.1, ::1       this address, however it is spelt
//	10.0.0.0/8           the addresses of this network
//	HOST:443, HOST:1-99  one of these with a port, or with a range of them
//	:25                  any host with this port
//
// IPv6 stands in brackets when a port follows. The problems of all entries are
// joined; each begins with allow or deny.
func Parse(allow, deny []string) (*Rules, error) {
	var r Rules
	err := errors.Join(r.allow.read("allow", allow), r.deny.read("deny", deny))
	return &r, err
}

func (l *list) read(name string, entries []string) error {
	var problems []error
	l.names = map[string][]ports{}
	for i, entry := range entries {
		if err := l.add(strings.TrimSpace(entry)); err != nil {
			problems = append(problems, fmt.Errorf("%s: %s: %w", name, shown(entry, i), err))
		}
	}
	return errors.Join(problems...)
}

// shown is an entry as messages have it, unless it is an address that may hold a
// password or a key.
func shown(entry string, i int) string {
	if strings.ContainsAny(entry, "@?") {
		return fmt.Sprintf("entry %d", i+1)
	}
	return strconv.Quote(entry)
}

var (
	errHost  = errors.New("want a name, .name, an address or a network such as 10.0.0.0/8")
	errPorts = errors.New("the ports behind the : are none: want a number from 1 to 65535, or two with a - between")
	errBits  = errors.New("the network has bits set behind its length")
)

func (l *list) add(entry string) error {
	host, p, err := cutPorts(entry)
	if err != nil {
		return err
	}
	switch {
	case host == "" && entry != "":
		l.any = append(l.any, p)
		return nil
	case strings.Contains(host, "/"):
		return l.addNetwork(host, p)
	case strings.Contains(host, "%"): // no target has a zone
		return errHost
	}
	name := Fold(host)
	if addrs := AppendAddresses(nil, name); len(addrs) > 0 {
		for _, addr := range addrs {
			l.nets = append(l.nets, network{netip.PrefixFrom(addr, addr.BitLen()), p})
		}
		return nil
	}
	if !isName(strings.TrimPrefix(name, ".")) {
		return errHost
	}
	l.names[name] = append(l.names[name], p)
	return nil
}

func (l *list) addNetwork(text string, p ports) error {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return errHost
	}
	if addr := prefix.Addr(); addr.Is4In6() {
		if prefix.Bits() < 96 {
			return errHost
		}
		prefix = netip.PrefixFrom(addr.Unmap(), prefix.Bits()-96)
	}
	if prefix != prefix.Masked() {
		return errBits
	}
	l.nets = append(l.nets, network{prefix, p})
	return nil
}

// cutPorts cuts the ports off an entry. IPv6 without brackets has none.
func cutPorts(entry string) (host string, p ports, err error) {
	every := ports{0, 65535}
	host, text := entry, ""
	if strings.HasPrefix(entry, "[") {
		inside, rest, closed := strings.Cut(entry[1:], "]")
		if !closed || !strings.Contains(inside, ":") {
			return "", p, errHost
		}
		if rest == "" {
			return inside, every, nil
		}
		host, text = inside, rest
	} else if strings.Count(entry, ":") == 1 {
		i := strings.IndexByte(entry, ':')
		host, text = entry[:i], entry[i:]
	}
	if text == "" {
		return host, every, nil
	}
	first, last, isRange := strings.Cut(strings.TrimPrefix(text, ":"), "-")
	if !isRange {
		last = first
	}
	if p.first, err = portOf(first); err == nil {
		p.last, err = portOf(last)
	}
	if err != nil || text[0] != ':' || p.first > p.last {
		return "", p, errPorts
	}
	return host, p, nil
}

func portOf(text string) (uint16, error) {
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return 0, errPorts
	}
	return uint16(n), nil
}

// isName says whether a name can be met by a target at all.
func isName(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || strings.ContainsFunc(label, func(c rune) bool { return c <= ' ' || c == 0x7f || strings.ContainsRune(`/\@?#%[]:*"<>,;`, c) }) {
			return false
		}
	}
	return true
}
