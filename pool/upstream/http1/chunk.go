package http1

import (
	"errors"
	"slices"
)

// ErrChunk says that chunked coding is malformed or that one of its lines is
// too long.
var ErrChunk = errors.New("http1: malformed chunk")

// maxChunkLine bounds a chunk-size line with its extensions and its end,
// maxTrailer the whole trailer section.
const (
	maxChunkLine = 4 << 10
	maxTrailer   = 16 << 10
)

// chunkSize parses "1a;extension". The size is hexadecimal digits only: no
// sign, no prefix, no blanks in front, and at most 15 of them, so that it
// cannot overflow. Some servers pad it with blanks; of a client, only what the
// grammar allows is accepted.
func chunkSize(line string, strict bool) (int64, error) {
	var n int64
	i := 0
	for ; i < len(line) && i < 16; i++ {
		d := unhex(line[i])
		if d < 0 {
			break
		}
		n = n<<4 | int64(d)
	}
	ext := line[i:]
	if i == 0 || i > 15 || hasControl(ext) || strict && !isChunkExt(ext) {
		return 0, ErrChunk
	}
	if ext = trimOWS(ext); ext != "" && ext[0] != ';' {
		return 0, ErrChunk
	}
	return n, nil
}

// isChunkExt says whether s is a chunk-ext of RFC 9112 section 7.1.1, that is
// any number of ;name, ;name=token and ;name="string".
func isChunkExt(s string) bool {
	for s != "" {
		s = trimLeftOWS(s)
		if s == "" || s[0] != ';' {
			return false
		}
		s = trimLeftOWS(s[1:])
		n := tokenLen(s)
		if n == 0 {
			return false
		}
		s = s[n:]
		value := trimLeftOWS(s)
		if value == "" || value[0] != '=' {
			continue
		}
		value = trimLeftOWS(value[1:])
		if n = max(tokenLen(value), quotedLen(value)); n == 0 {
			return false
		}
		s = value[n:]
	}
	return true
}

// quotedLen returns the length of the quoted-string that s begins with, or 0.
func quotedLen(s string) int {
	if s == "" || s[0] != '"' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// notInTrailer says whether a trailer field could mislead who merges it into
// the head: those for framing, routing, authentication and the format of the
// content (RFC 9110 section 6.5.1). They are dropped.
func notInTrailer(name string) bool {
	return isFraming(name) || hopByHop(name) || slices.ContainsFunc(headOnly, func(s string) bool {
		return equalFold(name, s)
	})
}

var headOnly = []string{
	"Host", "Trailer", "Expect", "Max-Forwards", "Authorization", "WWW-Authenticate", "Cookie", "Set-Cookie",
	"Content-Encoding", "Content-Type", "Content-Range", "Range", "Location", "Cache-Control",
}
