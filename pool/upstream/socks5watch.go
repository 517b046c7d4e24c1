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
// go on with a method that was never offered. And it is between them where x/net
// is stricter than curl and than the servers in use.
type socks5Watch struct {
	net.Conn
	proxy *pool.Spec

	step    socks5Step
	method  byte
	count   int // bytes of the answer to step that were read
	refusal *Error
	broken  error // the first I/O error
}

// Write notes which message of the handshake goes out. x/net writes each of
// them at once. The one with the password is replaced: x/net sends none without a
// user.
func (w *socks5Watch) Write(b []byte) (int, error) {
	message := b
	switch {
	case w.step == stepNone:
		w.step = stepGreeting
	case w.step == stepGreeting && w.method == socks5MethodPassword:
		w.step = stepPassword
		message = socks5Password(w.proxy)
	default:
		w.step = stepRequest
	}
	w.count = 0
	_, err := w.Conn.Write(message)
	w.note(err)
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

// socks5Password is the message of RFC 1929. That wants a user of one byte at
// least; but passwords without one are in use, and this is how curl sends them.
func socks5Password(p *pool.Spec) []byte {
	password := p.Password.Reveal()
	b := append(make([]byte, 0, 3+len(p.User)+len(password)), socks5PasswordVersion, byte(len(p.User)))
	b = append(append(b, p.User...), byte(len(password)))
	return append(b, password...)
}

// Read judges what it read. It returns no bytes with a refusal, or
// io.ReadFull, having all it wanted, would drop the error.
func (w *socks5Watch) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	w.note(err)
	for i := range b[:n] {
		if w.refusal = w.judge(b[i]); w.refusal != nil {
			return 0, w.refusal
		}
		b[i] = w.strict(b[i])
		w.count++
	}
	return n, err
}

// strict is the next byte of an answer as x/net wants it. There are servers that
// answer a password with version 5 or 0, and others that do not clear the reserved
// byte of their reply; they mean the same.
func (w *socks5Watch) strict(c byte) byte {
	switch {
	case w.step == stepPassword && w.count == 0:
		return socks5PasswordVersion
	case w.step == stepRequest && w.count == 2:
		return 0
	}
	return c
}

func (w *socks5Watch) note(err error) {
	if w.broken == nil {
		w.broken = err
	}
}

// judge says what is wrong with the answer whose next byte is c, nil if nothing is.
func (w *socks5Watch) judge(c byte) *Error {
	switch {
	case w.count == 0 && w.step != stepPassword && c != socks5Version:
		return &Error{Signal: pool.HandshakeGarbage, Err: errors.New("the reply is not SOCKS5")}
	case w.count != 1:
		return nil
	case w.step == stepGreeting:
		w.method = c
		return w.judgeMethod()
	case w.step == stepPassword && c != 0:
		return &Error{Signal: pool.HandshakeAuth, Status: int(c), Err: errors.New("SOCKS5 credentials rejected")}
	case w.step == stepRequest && c != 0:
		return &Error{Signal: socks5Signal(c), Status: int(c), Err: fmt.Errorf("SOCKS5 code %#02x", c)}
	}
	return nil
}

// judgeMethod takes FF and methods that were not offered alike: either way the
// proxy wants credentials that this line does not have.
func (w *socks5Watch) judgeMethod() *Error {
	if w.method == socks5MethodNone || w.method == socks5MethodPassword && w.proxy.HasAuth {
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
// connection broke, x/net did not like what it was given: a malformed reply.
func (w *socks5Watch) verdict(ph *phase) error {
	switch {
	case w.refusal != nil:
		return w.refusal
	case w.broken != nil:
		return ph.fail(w.broken, pool.HandshakeTimeout, pool.HandshakeClosed)
	}
	return &Error{Signal: pool.HandshakeGarbage, Err: errors.New("the reply is not SOCKS5")}
}
