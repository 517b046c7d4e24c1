package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// answer is what is read of an answer's head.
type answer struct {
	length int64 // of the body; 0 if the head does not say, as behind a CONNECT
	closes bool  // the proxy closes the connection after it, as all of HTTP/1.0 are taken to do
}

// readAnswer reads one answer with status 200, of which buf has to hold the
// head. Nothing may follow it.
func readAnswer(r io.Reader, buf []byte) (closes bool, err error) {
	a, have, err := readHead(r, buf)
	if err != nil {
		return false, err
	}
	for left := a.length - int64(have); left != 0; {
		if left < 0 {
			return false, fmt.Errorf("%d bytes behind the end of the answer", -left)
		}
		n, err := r.Read(buf[:min(int64(len(buf)), left)])
		if left -= int64(n); err != nil && left > 0 {
			return false, fmt.Errorf("%d bytes are missing: %w", left, err)
		}
	}
	return a.closes, nil
}

// readHead reads the head of an answer with status 200, and returns how many
// bytes came behind it. Chunks are not read; no proxy here makes any of an answer
// with a length.
func readHead(r io.Reader, buf []byte) (a answer, behind int, err error) {
	for n := 0; ; {
		more, err := r.Read(buf[n:])
		from := max(n-3, 0)
		n += more
		if end := bytes.Index(buf[from:n], []byte("\r\n\r\n")); end >= 0 {
			end += from
			a, err = parseHead(buf[:end+2])
			return a, n - end - 4, err
		}
		switch {
		case err != nil:
			return answer{}, 0, fmt.Errorf("no answer but %.60q: %w", buf[:n], err)
		case n == len(buf):
			return answer{}, 0, errors.New("the head of the answer is too long")
		}
	}
}

var (
	contentLength   = []byte("content-length")
	connection      = []byte("connection")
	proxyConnection = []byte("proxy-connection")
	closing         = []byte("close")
)

// parseHead reads a head of which each line ends in CRLF.
func parseHead(head []byte) (a answer, err error) {
	line, rest, _ := bytes.Cut(head, []byte("\r\n"))
	if len(line) < 12 || string(line[9:12]) != "200" {
		return a, fmt.Errorf("answered %.100q", line)
	}
	a.closes = bytes.HasPrefix(line, []byte("HTTP/1.0"))
	for len(rest) > 0 && err == nil {
		line, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, contentLength):
			a.length, err = strconv.ParseInt(string(value), 10, 64)
		case bytes.EqualFold(name, connection) || bytes.EqualFold(name, proxyConnection):
			a.closes = a.closes || bytes.EqualFold(value, closing)
		}
	}
	return a, err
}
