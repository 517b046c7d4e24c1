package tunnel

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"testing"
)

// realHello is what a TLS client of Go's sends first.
func realHello(t testing.TB, version uint16) []byte {
	t.Helper()
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		_ = tls.Client(far, &tls.Config{ServerName: "example.test", MaxVersion: version}).Handshake()
		_ = far.Close()
	}()
	hello := make([]byte, recordHeader)
	if _, err := io.ReadFull(near, hello); err != nil {
		t.Fatal(err)
	}
	hello = append(hello, make([]byte, binary.BigEndian.Uint16(hello[3:]))...)
	if _, err := io.ReadFull(near, hello[recordHeader:]); err != nil {
		t.Fatal(err)
	}
	return hello
}

// inRecords puts a message of one record into several.
func inRecords(hello []byte, size int) (out []byte) {
	for piece := range slices.Chunk(hello[recordHeader:], size) {
		out = append(out, typeHandshake, 3, 1, byte(len(piece)>>8), byte(len(piece)))
		out = append(out, piece...)
	}
	return out
}

// ask is a ClientHello with the given extensions.
func ask(extensions ...byte) []byte {
	m := append([]byte{3, 3}, make([]byte, 32)...)
	m = append(m, 0 /* session */, 0, 2, 0x13, 1 /* suites */, 1, 0 /* compression */)
	if extensions != nil {
		m = append(m, byte(len(extensions)>>8), byte(len(extensions)))
		m = append(m, extensions...)
	}
	m = append([]byte{typeClientHello, 0, byte(len(m) >> 8), byte(len(m))}, m...)
	return append([]byte{typeHandshake, 3, 1, byte(len(m) >> 8), byte(len(m))}, m...)
}

func TestGreetings(t *testing.T) {
	modern, old := realHello(t, tls.VersionTLS13), realHello(t, tls.VersionTLS12)
	broken := ask(0, 5, 0, 0)
	broken[len(broken)-1] = 1 // an extension longer than all of them
	behind := inRecords(modern, 100)
	for name, test := range map[string]struct {
		b    []byte
		want greeting
	}{
		"nothing":                      {nil, partHello},
		"TLS 1.3":                      {modern, wholeHello},
		"TLS 1.2":                      {old, wholeHello},
		"many records":                 {inRecords(modern, 1), wholeHello},
		"the last record is missing":   {behind[:len(behind)-1], partHello},
		"no extensions":                {ask(), wholeHello},
		"an extension":                 {ask(0, 21, 0, 1, 0), wholeHello},
		"early data":                   {ask(0, 21, 0, 1, 0, 0, 42, 0, 0), notHello},
		"malformed extension":          {broken, notHello},
		"a byte behind":                {append(slices.Clone(modern), 0x16), notHello},
		"data behind":                  {append(slices.Clone(modern), 23, 3, 3, 0, 1, 0), notHello},
		"an empty record":              {[]byte{22, 3, 1, 0, 0}, notHello},
		"a record that is too long":    {[]byte{22, 3, 1, 0x40, 1}, notHello},
		"an alert":                     {[]byte{21, 3, 1, 0, 2, 1, 0}, notHello},
		"another message":              {[]byte{22, 3, 1, 0, 4, 2, 0, 0, 0}, notHello},
		"a message that holds nothing": {[]byte{22, 3, 1, 0, 4, 1, 0, 0, 0}, notHello},
		"SSH":                          {[]byte("SSH-2.0-x\r\n"), notHello},
		"HTTP":                         {[]byte("GET / HTTP/1.1\r\n"), notHello},
		"SSL 2":                        {[]byte{0x80, 0x2e, 1, 3, 1}, notHello},
	} {
		if got := greetingOf(test.b); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// FuzzGreeting holds whatever a client may send against the one thing that
// counts: what is taken for a ClientHello is the beginning of one at every
// moment before, and nothing of it once there is more.
func FuzzGreeting(f *testing.F) {
	modern := realHello(f, tls.VersionTLS13)
	for _, seed := range [][]byte{modern, realHello(f, tls.VersionTLS12), inRecords(modern, 7), ask(), ask(0, 42, 0, 0), []byte("GET / HTTP/1.1\r\n")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		b = b[:min(len(b), 600)]
		original := slices.Clone(b)
		whole := greetingOf(b)
		if !slices.Equal(b, original) {
			t.Fatal("it changed what it looked at")
		}
		if whole == notHello {
			return
		}
		for n := range b {
			if got := greetingOf(b[:n]); got != partHello {
				t.Fatalf("the first %d bytes are %v, all are %v", n, got, whole)
			}
		}
		if got := greetingOf(append(original, 0x16)); whole == wholeHello && got != notHello {
			t.Fatalf("with a byte behind it is %v", got)
		}
	})
}

func TestKeptIsWhatWasSent(t *testing.T) {
	hello := realHello(t, tls.VersionTLS13)
	for _, size := range []int{1, 5, 100, len(hello)} {
		k := kept{what: partHello}
		for piece := range slices.Chunk(hello, size) {
			k.add(piece)
		}
		if k.what != wholeHello || !slices.Equal(k.from(0), hello) || !slices.Equal(k.from(7), hello[7:]) {
			t.Errorf("in pieces of %d: %v, %d of %d bytes", size, k.what, k.n, len(hello))
		}
		k.add([]byte{23})
		if k != (kept{}) {
			t.Errorf("in pieces of %d: kept although more followed", size)
		}
	}
}

func TestNothingIsKeptBeyondOneBuffer(t *testing.T) {
	k := kept{what: partHello}
	long := make([]byte, 1<<14)
	long[0], long[1], long[2], long[3] = typeClientHello, 0, 0xff, 0xff
	b := inRecords(append(make([]byte, recordHeader), long...), 1<<14)
	if k.add(b[:chunk]); k.what != partHello {
		t.Fatalf("%v", k.what)
	}
	if k.add(b[chunk:]); k != (kept{}) {
		t.Error("more is kept than a buffer holds")
	}
}
