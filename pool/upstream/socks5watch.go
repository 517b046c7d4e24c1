package upstream

import (
	"errors"
	"fmt"
	"net"

	"swivel/pool"
)

// The bytes of SOCKS5 (RFC 1928) and of its passwords (RFC 1929).
const (
	socks5Version         = 5
	socks5MethodNone      = 0
	socks5MethodPassword  = 2
	socks5PasswordVersion = 1
)

// socks5Step is the message that the client sent last.
type socks5Step uint8

const (
	stepNone socks5Step = iota
	stepGreeting
	stepPassword
	stepRequest
)

// socks5Watch sits between x/net's client and the connection for the time of
// the handshake. It judges every answer by its first two bytes and fails the
// read that brought a refusal, so that the client sends nothing more: it would
// go on with a method that was never offered.
type socks5Watch struct {
	net.Conn
	offersPassword bool

	step    socks5Step
	method  byte
	seen    [2]byte // how the answer to step begins
	count   int     // bytes of it in seen
	refusal *Error
	broken  error // the first I/O error
}

// Write notes which message of the handshake goes out. x/net writes each of
// them at once.
func (w *socks5Watch) Write(b []byte) (int, error) {
	switch {
	case w.step == stepNone:
		w.step = stepGreeting
	case w.step == stepGreeting && w.method == socks5MethodPassword:
		w.step = stepPassword
	default:
		w.step = stepRequest
	}
	w.count = 0
	n, err := w.Conn.Write(b)
	w.note(err)
	return n, err
}

// Read judges what it read. It returns no bytes with a refusal, or
// io.ReadFull, having all it wanted, would drop the error.
func (w *socks5Watch) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	w.note(err)
	for _, c := range b[:n] {
		if w.count == len(w.seen) || w.refusal != nil {
			break
		}
		w.seen[w.count] = c
		w.count++
		w.refusal = w.judge()
	}
	if w.refusal != nil {
		return 0, w.refusal
	}
	return n, err
}

func (w *socks5Watch) note(err error) {
	if w.broken == nil {
		w.broken = err
	}
}

// judge says what is wrong with the answer so far, nil if nothing is.
func (w *socks5Watch) judge() *Error {
	version := byte(socks5Version)
	if w.step == stepPassword {
		version = socks5PasswordVersion
	}
	if w.seen[0] != version {
		return &Error{Signal: pool.HandshakeGarbage, Err: errors.New("the reply is not SOCKS5")}
	}
	if w.count < len(w.seen) {
		return nil
	}
	switch code := w.seen[1]; w.step {
	case stepGreeting:
		w.method = code
		return w.judgeMethod()
	case stepPassword:
		if code != 0 {
			return &Error{Signal: pool.HandshakeAuth, Status: int(code), Err: errors.New("SOCKS5 credentials rejected")}
		}
	case stepRequest:
		if code != 0 {
			return &Error{Signal: socks5Signal(code), Status: int(code), Err: fmt.Errorf("SOCKS5 code %#02x", code)}
		}
	}
	return nil
}

// judgeMethod takes FF and methods that were not offered alike: either way the
// proxy wants credentials that this line does not have.
func (w *socks5Watch) judgeMethod() *Error {
	if w.method == socks5MethodNone || w.method == socks5MethodPassword && w.offersPassword {
		return nil
	}
	return &Error{Signal: pool.HandshakeAuth, Status: int(w.method), Err: fmt.Errorf("SOCKS5 method %#02x", w.method)}
}

// socks5Signal says what a reply code of RFC 1928 section 6 means. Codes that
// it does not assign say no more than that something failed.
func socks5Signal(code byte) pool.Signal {
	switch code {
	case 2:
		return pool.HandshakeDenied
	case 3, 4, 5, 6:
		return pool.TargetNamed
	case 7, 8:
		return pool.HandshakeUnsupported
	}
	return pool.HandshakeFailed
}

// verdict says why the handshake failed. If neither the proxy refused nor the
// connection broke, x/net did not like what it was given: credentials that the
// format of RFC 1929 has no room for, or a malformed reply.
func (w *socks5Watch) verdict(ph *phase) error {
	switch {
	case w.refusal != nil:
		return w.refusal
	case w.broken != nil:
		return ph.fail(w.broken, pool.HandshakeTimeout, pool.HandshakeClosed)
	case w.step == stepGreeting && w.method == socks5MethodPassword:
		return &Error{Signal: pool.HandshakeAuth, Err: errors.New("the credentials do not fit SOCKS5")}
	}
	return &Error{Signal: pool.HandshakeGarbage, Err: errors.New("the reply is not SOCKS5")}
}
