package tunnel

// kept is what a client has sent, for as long as it may be sent to another proxy
// too: nothing yet, or a ClientHello. The zero value keeps nothing.
type kept struct {
	what greeting
	buf  *[chunk]byte // nil: nothing was sent yet
	n    int
}

// add takes what the client sends next. Once that is not to be repeated, all is
// dropped.
func (k *kept) add(b []byte) {
	if k.what == notHello || len(b) == 0 {
		return
	}
	if k.n == 0 && greetingOf(b) == notHello || k.n+len(b) > chunk {
		k.drop()
		return
	}
	if k.buf == nil {
		k.buf = buffers.Get().(*[chunk]byte)
	}
	k.n += copy(k.buf[k.n:], b)
	if k.what = greetingOf(k.buf[:k.n]); k.what == notHello {
		k.drop()
	}
}

// drop gives the memory back: nothing will be repeated any more.
func (k *kept) drop() {
	if k.buf != nil {
		buffers.Put(k.buf)
	}
	*k = kept{}
}

// from returns a copy of what was kept behind the first n bytes.
func (k *kept) from(n int) []byte {
	if k.buf == nil {
		return nil
	}
	return append([]byte(nil), k.buf[n:k.n]...)
}
