// Package socks is the server's side of SOCKS5 (RFC 1928) with user names and
// passwords (RFC 1929): it reads what a client sends, piece by piece, and makes
// the answers. It connects to nothing and decides nothing; deadlines and who may
// come in are the caller's. What a client sends behind its request stays in the
// reader.
//
//	offer, err := socks.ReadOffer(br)
//	...                               // write socks.AppendMethod(nil, socks.NoAuth)
//	request, err := socks.ReadRequest(br)
//	...                               // write socks.AppendReply(nil, socks.Succeeded)
//
// The first byte tells the versions: [Version] for SOCKS5, [Version4] for SOCKS4,
// which has no passwords and is refused with [Refusal4].
package socks

import (
	"bufio"
	"errors"
	"io"
	"net/netip"
	"strconv"
)

// The first byte of a client's first message.
const (
	Version  = 5
	Version4 = 4
)

// Refusal4 is "request rejected or failed" to a SOCKS4 client.
const Refusal4 = "\x00\x5b\x00\x00\x00\x00\x00\x00"

// The methods of authentication.
const (
	NoAuth   = 0x00
	Password = 0x02
	NoMethod = 0xff // none of those offered will do
)

// Reply is the answer to a request (RFC 1928 section 6).
type Reply byte

// The replies.
const (
	Succeeded           Reply = 0
	GeneralFailure      Reply = 1
	NotAllowed          Reply = 2
	NetworkUnreachable  Reply = 3
	HostUnreachable     Reply = 4
	TTLExpired          Reply = 6
	CommandNotSupported Reply = 7
	AddressNotSupported Reply = 8
)

// Connect is the command for a connection to a target.
const Connect = 1

var (
	// ErrVersion means that the client does not speak the protocol.
	ErrVersion = errors.New("socks: wrong version")
	// ErrAddress means an address of a kind that RFC 1928 does not have.
	ErrAddress = errors.New("socks: unknown kind of address")
)

// Offer is the methods that a client offers.
type Offer struct{ NoAuth, Password bool }

// ReadOffer reads the first message.
func ReadOffer(br *bufio.Reader) (Offer, error) {
	var head [2]byte
	if err := read(br, head[:], Version); err != nil {
		return Offer{}, err
	}
	var o Offer
	for range head[1] {
		method, err := br.ReadByte()
		if err != nil {
			return Offer{}, unexpected(err)
		}
		o.NoAuth = o.NoAuth || method == NoAuth
		o.Password = o.Password || method == Password
	}
	return o, nil
}

// AppendMethod appends the answer to an offer.
func AppendMethod(dst []byte, method byte) []byte { return append(dst, Version, method) }

// passwordVersion begins the messages of RFC 1929.
const passwordVersion = 1

// ReadPassword reads user name and password. Either may be empty, though RFC 1929
// gives both a byte at least: clients send what they have.
func ReadPassword(br *bufio.Reader) (user, password string, err error) {
	var version [1]byte
	if err := read(br, version[:], passwordVersion); err != nil {
		return "", "", err
	}
	if user, err = readText(br); err != nil {
		return "", "", err
	}
	password, err = readText(br)
	return user, password, err
}

// AppendVerdict appends the answer to a password.
func AppendVerdict(dst []byte, ok bool) []byte {
	if ok {
		return append(dst, passwordVersion, 0)
	}
	return append(dst, passwordVersion, 1)
}

// Request is what a client asks for.
type Request struct {
	Command byte
	Host    string // a name as it was sent, or an address; IPv6 has no brackets
	Port    uint16
}

// ReadRequest reads the request itself.
func ReadRequest(br *bufio.Reader) (r Request, err error) {
	var head [4]byte
	if err := read(br, head[:], Version); err != nil {
		return Request{}, err
	}
	r.Command = head[1]
	if r.Host, err = readHost(br, head[3]); err != nil {
		return Request{}, err
	}
	var port [2]byte
	if _, err := io.ReadFull(br, port[:]); err != nil {
		return Request{}, unexpected(err)
	}
	r.Port = uint16(port[0])<<8 | uint16(port[1])
	return r, nil
}

// readHost reads an address of one of the kinds of RFC 1928 section 5.
func readHost(br *bufio.Reader, kind byte) (string, error) {
	switch kind {
	case 1:
		var v4 [4]byte
		_, err := io.ReadFull(br, v4[:])
		return netip.AddrFrom4(v4).String(), unexpected(err)
	case 3:
		return readText(br)
	case 4:
		var v6 [16]byte
		_, err := io.ReadFull(br, v6[:])
		return netip.AddrFrom16(v6).String(), unexpected(err)
	}
	return "", ErrAddress
}

// AppendReply appends the answer to a request. The address in it, where an
// upstream proxy has connected from, is nobody's business and all zero.
func AppendReply(dst []byte, r Reply) []byte {
	return append(dst, Version, byte(r), 0, 1, 0, 0, 0, 0, 0, 0)
}

// read fills p, whose first byte has to be the version.
func read(br *bufio.Reader, p []byte, version byte) error {
	first, err := br.ReadByte()
	if err != nil {
		return unexpected(err)
	}
	if first != version {
		return ErrVersion
	}
	p[0] = first
	_, err = io.ReadFull(br, p[1:])
	return unexpected(err)
}

// readText reads a length and as many bytes.
func readText(br *bufio.Reader) (string, error) {
	n, err := br.ReadByte()
	if err != nil {
		return "", unexpected(err)
	}
	var text [255]byte
	_, err = io.ReadFull(br, text[:n])
	return string(text[:n]), unexpected(err)
}

// unexpected is an end in the middle of a message.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// HostPort is the target as host:port, the form that the rest of the daemon has.
func (r Request) HostPort() string {
	host := r.Host
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is6() {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(int(r.Port))
}
