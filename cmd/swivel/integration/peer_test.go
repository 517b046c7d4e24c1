package integration

import (
	"net/url"
	"testing"
)

// peer is a running upstream proxy.
type peer struct {
	name   string
	line   string // of a proxy list
	source string // the address it leaves from
}

// peers are the kinds of upstream there are, each with the function that
// starts one.
var peers = []struct {
	name  string
	start func(testing.TB, *authority) peer
}{
	{"squid with a password", startSquid},
	{"tinyproxy", startTinyproxy},
	{"tinyproxy behind TLS", startTLSProxy},
	{"microsocks with a password", startMicrosocks},
	{"dante as socks4", startDante4},
	{"dante as socks5", startDante5},
}

// The credentials of the peers that ask for some. The password holds what
// separates the parts of a URI and of a list line.
const (
	peerUser     = "upuser"
	peerCore     = "SeCrEtPeer7Qz"
	peerPassword = "up:p@ss/%41" + peerCore
)

// peerURI is a proxy's URI with the credentials, percent-encoded.
func peerURI(scheme, hostPort, password string) string {
	u := url.URL{Scheme: scheme, Host: hostPort, User: url.UserPassword(peerUser, password)}
	return u.String()
}
