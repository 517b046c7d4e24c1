package pool

import (
	"errors"
	"fmt"
	"strings"
)

// maxRange is how many proxies one line may be: vendors' gateways have some
// thousand ports, and more is likely a slip.
const maxRange = 10_000

var errRange = fmt.Errorf("the range has more than %d ports: write several lines if they are meant", maxRange)

var errPort = errors.New("the port is not a number from 1 to 65535, nor a range of two")

// parsePorts reads "10001" or "10001-10010".
func parsePorts(text string) (first, last uint16, err error) {
	low, high, isRange := strings.Cut(text, "-")
	if first = parsePort(low); first == 0 {
		return 0, 0, errPort
	}
	if !isRange {
		return first, first, nil
	}
	if last = parsePort(high); last < first {
		return 0, 0, errPort
	}
	return first, last, nil
}

// parsePort returns 0 for what is no port. It takes digits only, no sign.
func parsePort(text string) uint16 {
	if len(text) > 5 {
		return 0
	}
	n := 0
	for i := range len(text) {
		if !isDigit(text[i]) {
			return 0
		}
		n = n*10 + int(text[i]-'0')
	}
	if n > 65535 {
		return 0
	}
	return uint16(n)
}

// appendPorts appends a copy of spec for each port of e.
func appendPorts(specs []*Spec, spec *Spec, e endpoint) ([]*Spec, error) {
	if e.last-e.first >= maxRange {
		return specs, errRange
	}
	for port := int(e.first); port <= int(e.last); port++ {
		one := *spec
		one.Port = uint16(port)
		specs = append(specs, &one)
	}
	return specs, nil
}
