package tunnel

// greeting says what the bytes are that a client has sent first.
type greeting uint8

const (
	// notHello: something else than a ClientHello, or more than one. It must not
	// be sent twice.
	notHello greeting = iota
	// partHello: nothing but the beginning of a ClientHello, or nothing at all.
	partHello
	// wholeHello: exactly one ClientHello, without early data.
	wholeHello
)

// What a ClientHello consists of (RFC 8446 sections 4.1.2, 4.2 and 5.1).
const (
	recordHeader    = 5
	recordMost      = 1 << 14
	typeHandshake   = 22
	messageHeader   = 4
	typeClientHello = 1
	extEarlyData    = 42
)

// greetingOf looks at all that a client has sent so far. What it does not know
// is notHello: a request in clear text is not repeated, and neither is a
// ClientHello behind which data may follow before the server has answered.
func greetingOf(b []byte) greeting {
	var message []byte // without the headers of its records
	for len(b) > 0 {
		if messageEnds(message) {
			return notHello // more behind it
		}
		if b[0] != typeHandshake || len(b) > 1 && b[1] != 3 {
			return notHello
		}
		if len(b) < recordHeader {
			return partHello
		}
		size := int(b[3])<<8 | int(b[4])
		if size == 0 || size > recordMost {
			return notHello
		}
		b = b[recordHeader:]
		piece := b[:min(size, len(b))]
		if message == nil {
			message = piece[:len(piece):len(piece)] // as good as always it is all
		} else {
			message = append(message, piece...)
		}
		if len(message) > 0 && message[0] != typeClientHello {
			return notHello
		}
		if len(piece) < size {
			if messageEnds(message) {
				return notHello // its record holds more
			}
			return partHello
		}
		b = b[size:]
	}
	if !messageEnds(message) {
		return partHello
	}
	if early, ok := hasEarlyData(message); early || !ok {
		return notHello
	}
	return wholeHello
}

// messageEnds says whether the message is there as far as its header says, or
// more.
func messageEnds(m []byte) bool {
	return len(m) >= messageHeader && len(m) >= messageHeader+(int(m[1])<<16|int(m[2])<<8|int(m[3]))
}

// hasEarlyData looks for the extension in a whole ClientHello; not ok if it is
// malformed.
func hasEarlyData(m []byte) (early, ok bool) {
	size := int(m[1])<<16 | int(m[2])<<8 | int(m[3])
	f := field(m[messageHeader:])
	if len(f) != size {
		return false, false
	}
	f.skip(2 + 32)      // version, random
	f.skip(f.number(1)) // session id
	f.skip(f.number(2)) // cipher suites
	f.skip(f.number(1)) // compression methods
	if f != nil && len(f) == 0 {
		return false, true // no extensions at all
	}
	if n := f.number(2); n != len(f) || f == nil {
		return false, false
	}
	for len(f) > 0 {
		kind := f.number(2)
		f.skip(f.number(2))
		early = early || kind == extEarlyData
	}
	return early, f != nil
}

// field is the unread rest of a message; nil once more was read than there was.
type field []byte

// number reads a number of so many bytes.
func (f *field) number(size int) (n int) {
	if len(*f) < size {
		*f = nil
		return 0
	}
	for _, b := range (*f)[:size] {
		n = n<<8 | int(b)
	}
	f.skip(size)
	return n
}

func (f *field) skip(n int) {
	if *f == nil || n > len(*f) {
		*f = nil
		return
	}
	*f = (*f)[n:]
}
