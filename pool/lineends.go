package pool

import (
	"bufio"
	"bytes"
)

// endsWithCR says whether a list that begins so has CR alone for its line ends, as
// old Macs and some exports for them write. The last byte may be half of a CRLF.
func endsWithCR(start []byte) bool {
	cr := bytes.IndexByte(start, '\r')
	return cr >= 0 && (cr < len(start)-1 || len(start) < look) && bytes.IndexByte(start, '\n') < 0
}

// crLines reads text whose lines end with CR, and hands it out with LF. Where a CRLF
// comes after all it stays.
type crLines struct{ r *bufio.Reader }

func (c crLines) Read(p []byte) (n int, err error) {
	n, err = c.r.Read(p)
	for i := range n {
		if p[i] == '\r' && !c.beforeLF(p[i+1:n]) {
			p[i] = '\n'
		}
	}
	return n, err
}

// beforeLF says whether what comes next is LF; rest has been read already.
func (c crLines) beforeLF(rest []byte) bool {
	if len(rest) == 0 {
		rest, _ = c.r.Peek(1) // an error comes again when it is read
	}
	return len(rest) > 0 && rest[0] == '\n'
}
