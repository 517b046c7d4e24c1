package http1

import "strconv"

// AppendRequestLine appends "METHOD target HTTP/1.1".
func AppendRequestLine(b []byte, method, target string) []byte {
	b = append(b, method...)
	b = append(b, ' ')
	b = append(b, target...)
	return append(b, " HTTP/1.1\r\n"...)
}

// AppendStatusLine appends "HTTP/1.1 200 OK".
func AppendStatusLine(b []byte, status int, reason string) []byte {
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, reason...)
	return append(b, "\r\n"...)
}

// AppendField appends one field line. The value must hold no line break.
func AppendField(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	b = append(b, value...)
	return append(b, "\r\n"...)
}

// Append appends all field lines, without the empty line that ends a head.
func (f Fields) Append(b []byte) []byte {
	for i := range f {
		b = AppendField(b, f[i].Name, f[i].Value)
	}
	return b
}

// ChunkRoom is the space that BeginChunk needs in front of a chunk's data.
const ChunkRoom = 10

// SealChunk makes a chunk of b, whose data begins at ChunkRoom, in place: it
// returns the part of b, extended by the final CR LF, that is the chunk. Data
// may hold up to 4 GiB less one byte and must not be empty, for an empty chunk
// ends the body.
func SealChunk(b []byte) []byte {
	const hexDigits = "0123456789abcdef"
	n := len(b) - ChunkRoom
	b = append(b, '\r', '\n')
	i := ChunkRoom
	i--
	b[i] = '\n'
	i--
	b[i] = '\r'
	for ok := true; ok; ok = n > 0 {
		i--
		b[i] = hexDigits[n&15]
		n >>= 4
	}
	return b[i:]
}

// AppendLastChunk appends the end of a chunked body with its trailer.
func AppendLastChunk(b []byte, trailer Fields) []byte {
	b = append(b, "0\r\n"...)
	b = trailer.Append(b)
	return append(b, "\r\n"...)
}
