package http1

import "strings"

// judgeBytes looks for what readers disagree about wherever it stands: to some,
// a bare CR ends a line (RFC 9112 section 2.2) and a NUL ends the text. A bare LF
// ends it for all who accept it, and they are many.
func (r *Response) judgeBytes(head string) {
	ends := 0 // CR LF
	for rest := head; ; ends++ {
		i := strings.IndexByte(rest, '\r')
		if i < 0 {
			break
		}
		if rest = rest[i+1:]; rest == "" || rest[0] != '\n' {
			r.doubtful = true
			break
		}
	}
	r.doubtful = r.doubtful || strings.IndexByte(head, 0) >= 0
	r.odd = r.doubtful || strings.Count(head, "\n") != ends
}

// delimits says of a field whether it has a say in where the message ends, or the
// connection with it.
func delimits(name string) bool {
	return isFraming(name) || equalFold(name, "Connection") || equalFold(name, "Proxy-Connection")
}

// namesFraming says whether a line that is dropped may be a framing field to a
// reader that mends it in another way.
func namesFraming(line string) bool {
	letters := strings.Map(func(c rune) rune {
		if c |= 0x20; c < 'a' || c > 'z' {
			return -1
		}
		return c
	}, line)
	return strings.Contains(letters, "contentlength") || strings.Contains(letters, "transferencoding")
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
