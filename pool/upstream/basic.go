package upstream

import (
	"encoding/base64"

	"swivel/pool"
)

// AppendBasic appends the value of a Proxy-Authorization field for the proxy's
// credentials to dst: "Basic " and base64 of "user:password" (RFC 7617). The
// encoding also keeps control bytes in credentials from splitting a head. Call
// it only when p.HasAuth is set.
func AppendBasic(dst []byte, p *pool.Spec) []byte {
	var stack [256]byte // spares the usual credentials an allocation
	plain := append(stack[:0], p.User...)
	plain = append(plain, ':')
	plain = append(plain, p.Password.Reveal()...)
	dst = append(dst, "Basic "...)
	return base64.StdEncoding.AppendEncode(dst, plain)
}
