package daemon

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// redirectError is why a redirect is not followed.
type redirectError string

func (e redirectError) Error() string { return string(e) }

// unfetched says what kept a list from being fetched, in fixed words: errors of
// net/http quote URLs and what a server sent, which may be the secret that opens
// the list.
func unfetched(err error) error {
	if redirect, ok := errors.AsType[redirectError](err); ok {
		return redirect
	}
	if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
		return errors.New("it takes too long")
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return errors.New("the name of its server cannot be resolved")
	}
	if refused, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return untrusted(refused.Err)
	}
	_, isRecord := errors.AsType[tls.RecordHeaderError](err)
	_, isAlert := errors.AsType[tls.AlertError](err)
	failed, isOp := errors.AsType[*net.OpError](err)
	errno, isErrno := errors.AsType[syscall.Errno](err)
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("it was interrupted")
	case isRecord || errors.Is(err, http.ErrSchemeMismatch):
		return errors.New("its server does not speak TLS")
	case isAlert || isOp && strings.HasSuffix(failed.Op, " error"): // remote or local
		return errors.New("the TLS handshake with its server failed")
	case isOp && failed.Op == "dial" && isErrno:
		return fmt.Errorf("its server cannot be reached: %w", errno)
	case isOp && failed.Op == "dial":
		return errors.New("its server cannot be reached")
	case isErrno:
		return fmt.Errorf("the connection broke: %w", errno)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the connection ended before the whole answer was there")
	case strings.Contains(err.Error(), ": failed to parse Location header "):
		return errors.New("it redirects to what is no URL")
	}
	return errors.New("its server does not answer in HTTP that can be understood")
}

// untrusted says what is wrong with a certificate.
func untrusted(err error) error {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return errors.New("the certificate of its server is signed by an unknown authority")
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return errors.New("the certificate of its server is for another name")
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return errors.New("the certificate of its server has expired or is not valid yet")
	}
	return errors.New("the certificate of its server cannot be verified")
}
