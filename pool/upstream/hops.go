package upstream

import (
	"net"
	"strconv"

	"swivel/pool/upstream/tcp"
)

// HopsField tells another swivel how many of its kind a request has passed. Two of
// them that list each other would else send it round until one is out of
// descriptors. A CONNECT always has it, a plain request only when it may be on its
// second round: see echoes. Connection names it then, so that proxies of any kind
// should take it out.
const HopsField = "X-Swivel-Hops"

// MaxHops is how many swivels a request may pass. One that has is refused.
const MaxHops = 8

// Hops is what a value of the field says. What is no small number says nothing.
func Hops(value string) int {
	n, err := strconv.ParseUint(value, 10, 8)
	if err != nil {
		return 0
	}
	return int(n)
}

// isNear says whether the proxy at the other end may be a swivel of the same owner.
// Only such ones are told the hops: what nobody else has to know, nobody else is
// told.
func isNear(conn net.Conn) bool {
	c, ok := tcp.Under(conn).(*tcp.Conn)
	if !ok {
		return false
	}
	ip := c.Remote().Addr()
	return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
}

// appendHops appends the field for a request that has passed so many before this
// swivel.
func appendHops(b []byte, hops int) []byte {
	b = append(b, HopsField+": "...)
	return append(strconv.AppendInt(b, int64(hops)+1, 10), "\r\n"...)
}
