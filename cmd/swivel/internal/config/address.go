package config

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// isLoopback says whether an address can be reached from this machine only.
func isLoopback(address string) (bool, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false, err
	}
	if port == "" {
		return false, errors.New("no port")
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return false, err
	}
	if host == "localhost" {
		return true, nil
	}
	if host == "" {
		return false, nil
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false, err
	}
	return ip.IsLoopback(), nil
}

// sameAddress says whether two listeners would meet: not with a port that the
// system gives.
func sameAddress(a, b string) bool {
	a, b = numeric(a), numeric(b)
	return a == b && a != "" && !strings.HasSuffix(a, ":0")
}

// numeric writes an address without names.
func numeric(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	number, err := net.LookupPort("tcp", port)
	if err != nil {
		return ""
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, strconv.Itoa(number))
}
