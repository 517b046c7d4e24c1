package upstream

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"swivel/pool"
)

// Error says what an attempt ran into. Its text names phase and reason for the
// log; it quotes nothing that the proxy sent and nothing of the credentials.
type Error struct {
	Signal     pool.Signal
	Status     int           // the HTTP status or SOCKS code of a refusal, 0 if there was none
	RetryAfter time.Duration // how long a throttling proxy asked to be left alone
	Sent       bool          // the proxy may have seen the client's request
	Err        error         // the reason
}

func (e *Error) Error() string {
	text := phaseOf(e.Signal)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// SignalOf returns the signal of an error that Tunnel or Hop returned;
// NoSignal for nil and for any other error.
func SignalOf(err error) pool.Signal {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Signal
	}
	return pool.NoSignal
}

func phaseOf(s pool.Signal) string {
	switch s {
	case pool.DialRefused, pool.DialTimeout, pool.DialFailed, pool.DialNoName, pool.DialTLS:
		return "dial"
	case pool.LocalFault:
		return "local fault"
	case pool.ClientGone:
		return "given up"
	case pool.ResponseClosed, pool.ResponseTimeout, pool.ResponseCut, pool.ResponseGarbage:
		return "response"
	}
	return "handshake"
}

// reason cuts the addresses off a network error: which proxy was tried is in
// the log line anyway, and the local port of a failed attempt helps nobody.
func reason(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Err != nil {
		return op.Err
	}
	return err
}

// timedOut says whether err is the end of some deadline, ours, the caller's or
// the kernel's.
func timedOut(err error) bool {
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	ne, ok := errors.AsType[net.Error](err)
	return ok && ne.Timeout()
}
