package http1

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const hello = "5\r\nhello\r\n"

func TestChunkedBody(t *testing.T) {
	long := strings.Repeat("x", maxChunkLine)
	for _, c := range []struct {
		why, wire string
		strict    string // what a request's body gives; "!" for ErrChunk, "?" for cut short
		sloppy    string // what a response's body gives
	}{
		{"one chunk", hello + "0\r\n\r\n", "hello", "hello"},
		{"two chunks", hello + "6\r\n world\r\n0\r\n\r\n", "hello world", "hello world"},
		{"no chunk", "0\r\n\r\n", "", ""},
		{"leading zeros", "0005\r\nhello\r\n000\r\n\r\n", "hello", "hello"},
		{"letters", "a\r\n0123456789\r\nB\r\n0123456789a\r\n0\r\n\r\n", "01234567890123456789a", "01234567890123456789a"},
		{"data like the end", "9\r\n\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n0\r\n\r\n\r\n", "\r\n0\r\n\r\n\r\n"},

		{"prefix", "0x5\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"plus", "+5\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"minus", "-5\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"minus one", "-1\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"underscore", "1_0\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"blank in front", " 5\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"tab in front", "\t5\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"blank behind", "5 \r\nhello\r\n0  \r\n\r\n", "!", "hello"},
		{"blank between", "5 5\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"comma", "5,5\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"no size", "\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"no size but an extension", ";a\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"not hexadecimal", "g\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"digit of other script", "\xef\xbc\x95\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"NUL", "5\x00\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"5 modulo 2^64", "10000000000000005\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"zeros without end", strings.Repeat("0", 16) + "5\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"negative as 64 bits", "ffffffffffffffff\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"the largest", "fffffffffffffff\r\nhello", "hello?", "hello?"},

		{"size line ends in LF", "5\nhello\r\n0\r\n\r\n", "!", "!"},
		{"size line ends in CR", "5\rhello\r\n0\r\n\r\n", "!", "!"},
		{"size line with CR CR LF", "5\r\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"data ends in LF", "5\r\nhello\n0\r\n\r\n", "hello!", "hello!"},
		{"data ends in nothing", "5\r\nhello0\r\n\r\n", "hello!", "hello!"},
		{"data is too long", "5\r\nhello!!\r\n0\r\n\r\n", "hello!", "hello!"},
		{"data is too short", "6\r\nhello\r\n0\r\n\r\n", "hello\r!", "hello\r!"},
		{"last chunk ends in LF", hello + "0\n\r\n", "hello!", "hello!"},
		{"trailer ends in LF", hello + "0\r\n\n", "hello!", "hello!"},

		{"extension", "5;a\r\nhello\r\n0;b=c\r\n\r\n", "hello", "hello"},
		{"extensions", "5;a=b;c;d=\"e;\\\"f\"\r\nhello\r\n0\r\n\r\n", "hello", "hello"},
		{"extension with blanks", "5 ;\ta = b ; c\r\nhello\r\n0\r\n\r\n", "hello", "hello"},
		{"extension without name", "5;\r\nhello\r\n0\r\n\r\n", "!", "hello"},
		{"extension without name but a value", "5;=b\r\nhello\r\n0\r\n\r\n", "!", "hello"},
		{"extension without value", "5;a=\r\nhello\r\n0\r\n\r\n", "!", "hello"},
		{"extension that is no token", "5;bad[=x\r\nhello\r\n0\r\n\r\n", "!", "hello"},
		{"extension with an open quote", "5;a=\"b\r\nhello\r\n0\r\n\r\n", "!", "hello"},
		{"extension with an escaped quote", "5;a=\"b\\\r\nhello\r\n0\r\n\r\n", "!", "hello"},
		{"extension and a blank", "5;a \r\nhello\r\n0\r\n\r\n", "!", "hello"},
		{"extension with LF", "5;a\nhello\r\n0\r\n\r\n", "!", "!"},
		{"extension with CR", "5;a\rb\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"extension with NUL", "5;a\x00\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"longest extension", "5;" + long[:maxChunkLine-4] + "\r\nhello\r\n0\r\n\r\n", "hello", "hello"},
		{"extension too long", "5;" + long[:maxChunkLine-3] + "\r\nhello\r\n0\r\n\r\n", "!", "!"},
		{"extension without end", "5;" + strings.Repeat(long, 4), "!", "!"},

		{"nothing", "", "?", "?"},
		{"cut in the size", "5", "?", "?"},
		{"cut behind the size", "5\r", "?", "?"},
		{"cut in the data", "5\r\nhe", "he?", "he?"},
		{"cut behind the data", "5\r\nhello", "hello?", "hello?"},
		{"cut behind the data's CR", "5\r\nhello\r", "hello?", "hello?"},
		{"cut behind a chunk", hello, "hello?", "hello?"},
		{"cut in the last chunk", hello + "0\r\n", "hello?", "hello?"},
		{"cut in the trailer", hello + "0\r\nA: b\r\n", "hello?", "hello?"},
	} {
		for _, strict := range []bool{true, false} {
			want := c.sloppy
			if strict {
				want = c.strict
			}
			checkBody(t, c.why, c.wire, Framing{Kind: Chunked, strict: strict}, want)
		}
	}
}

// checkBody reads wire in every way it can come. What is wanted ends in ! for
// ErrChunk and in ? for a body cut short; otherwise a next message is put
// behind and must be left alone.
func checkBody(t *testing.T, why, wire string, f Framing, want string) {
	t.Helper()
	const next = "0\r\n\r\nGET "
	var wantErr error
	switch {
	case strings.HasSuffix(want, "!"):
		want, wantErr = strings.TrimSuffix(want, "!"), ErrChunk
	case strings.HasSuffix(want, "?"):
		want, wantErr = strings.TrimSuffix(want, "?"), io.ErrUnexpectedEOF
	default:
		wire += next
	}
	for _, how := range arrivals {
		for _, size := range []int{16, 4096, 64 << 10} {
			for _, room := range []int{1, 7, 512} {
				br := bufio.NewReaderSize(how.wrap(strings.NewReader(wire)), size)
				body := NewBody(br, f)
				got, err := readIn(body, room)
				if string(got) != want || err != wantErr || body.Ended() != (wantErr == nil) {
					t.Fatalf("%s %s, buffer %d, %d at a time, %+v: %q, %v", why, how.name, size, room, f, got, err)
				}
				if rest, _ := io.ReadAll(br); wantErr == nil && string(rest) != next {
					t.Fatalf("%s %s: left %q", why, how.name, rest)
				}
			}
		}
	}
}

func TestTrailer(t *testing.T) {
	ab := Fields{{"A", "b"}}
	fill := strings.Repeat("x", maxTrailer-len("A: \r\n\r\n"))
	for _, c := range []struct {
		why, trailer   string
		strict, sloppy Fields // nil: ErrChunk
	}{
		{"none", "", Fields{}, Fields{}},
		{"kept as it is", "grpc-status: 0\r\nServer-Timing: a\r\nserver-timing: b\r\n",
			Fields{{"grpc-status", "0"}, {"Server-Timing", "a"}, {"server-timing", "b"}}, Fields{{"grpc-status", "0"}, {"Server-Timing", "a"}, {"server-timing", "b"}}},
		{"framing", "A: b\r\nContent-Length: 50\r\nTransfer-Encoding: chunked\r\n", ab, ab},
		{"routing", "HOST: evil\r\nA: b\r\nMax-Forwards: 1\r\nTE: x\r\nConnection: A\r\nTrailer: A\r\n", ab, ab},
		{"authentication", "Authorization: x\r\nProxy-Authorization: x\r\nCookie: x\r\nSet-Cookie: x\r\nA: b\r\n", ab, ab},
		{"format of the content", "Content-Type: x\r\nContent-Encoding: x\r\nContent-Range: x\r\nA: b\r\n", ab, ab},
		{"folded", "A: b\r\n c\r\n", nil, ab},
		{"blank before the colon", "B : c\r\nA: b\r\n", nil, ab},
		{"no colon", "A: b\r\nnonsense\r\n", nil, ab},
		{"control byte", "A: b\r\nC: \x00\r\n", nil, ab},
		{"bare LF", "A: b\n", nil, nil},
		{"as long as it may be", "A: " + fill + "\r\n", Fields{{"A", fill}}, Fields{{"A", fill}}},
		{"too long", "A: x" + fill + "\r\n", nil, nil},
		{"too many", strings.Repeat("A: b\r\n", maxTrailer/6+1), nil, nil},
	} {
		for _, how := range arrivals {
			for _, size := range []int{16, 4096, 64 << 10} {
				for strict, want := range map[bool]Fields{true: c.strict, false: c.sloppy} {
					br := bufio.NewReaderSize(how.wrap(strings.NewReader(hello+"0\r\n"+c.trailer+"\r\nnext")), size)
					body := NewBody(br, Framing{Kind: Chunked, strict: strict})
					got, err := readIn(body, 100)
					if want == nil {
						if err != ErrChunk || body.Ended() {
							t.Errorf("%s %s, buffer %d, strict %v: %v", c.why, how.name, size, strict, err)
						}
						continue
					}
					if diff := cmp.Diff(want, append(Fields{}, body.Trailer()...)); err != nil || string(got) != "hello" || diff != "" {
						t.Errorf("%s %s, buffer %d, strict %v: %q, %v %s", c.why, how.name, size, strict, got, err, diff)
					}
					if rest, _ := io.ReadAll(br); string(rest) != "next" {
						t.Errorf("%s %s: left %.40q", c.why, how.name, rest)
					}
				}
			}
		}
	}
}

func TestBodyOfKnownLength(t *testing.T) {
	checkBody(t, "whole", "hello", Framing{Kind: Length, Length: 5}, "hello")
	checkBody(t, "empty", "", Framing{Kind: Length}, "")
	checkBody(t, "none", "", Framing{Kind: NoBody}, "")
	checkBody(t, "told", "", Framing{Kind: NoBody, Told: true, Length: 5}, "")
	checkBody(t, "cut short", "hell", Framing{Kind: Length, Length: 5}, "hell?")
	checkBody(t, "cut at once", "", Framing{Kind: Length, Length: 5}, "?")
	checkBody(t, "huge", "hello", Framing{Kind: Length, Length: 1<<63 - 1}, "hello?")
}

func TestBodyUntilCloseNeverFreesItsConnection(t *testing.T) {
	for _, how := range arrivals {
		body := NewBody(bufio.NewReaderSize(how.wrap(strings.NewReader("hello\r\n0\r\n\r\n")), 16), Framing{Kind: UntilClose, Odd: true})
		got, err := readIn(body, 3)
		if string(got) != "hello\r\n0\r\n\r\n" || err != nil || body.Ended() {
			t.Errorf("%s: %q, %v, ended %v", how.name, got, err, body.Ended())
		}
	}
}

func TestBodyErrorStays(t *testing.T) {
	br := bufio.NewReader(strings.NewReader("x\r\n" + hello + "0\r\n\r\n"))
	body := NewBody(br, Framing{Kind: Chunked})
	for range 3 {
		if n, err := body.Read(make([]byte, 10)); n != 0 || err != ErrChunk || body.Ended() || body.Buffered() != 0 {
			t.Fatalf("%d, %v", n, err)
		}
	}
	failed := errors.New("reset")
	body = NewBody(bufio.NewReader(io.MultiReader(strings.NewReader("5\r\nhe"), failing{failed})), Framing{Kind: Chunked})
	if got, err := readIn(body, 10); string(got) != "he" || err != failed {
		t.Errorf("%q, %v", got, err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestZeroBodyIsEmpty(t *testing.T) {
	var body Body
	if n, err := body.Read(make([]byte, 1)); n != 0 || err != io.EOF || !body.Ended() || body.Buffered() != 0 {
		t.Errorf("%d, %v", n, err)
	}
	body.Reset(bufio.NewReader(strings.NewReader(hello+"0\r\nA: b\r\n\r\nhi")), Framing{Kind: Chunked})
	if got, err := readIn(&body, 10); string(got) != "hello" || err != nil || len(body.Trailer()) != 1 {
		t.Errorf("%q, %v", got, err)
	}
	body.Reset(body.br, Framing{Kind: Length, Length: 2})
	if got, err := readIn(&body, 10); string(got) != "hi" || err != nil || len(body.Trailer()) != 0 {
		t.Errorf("after Reset: %q, %v, %q", got, err, body.Trailer())
	}
}

func TestBufferedIsWhatReadGives(t *testing.T) {
	for _, c := range []struct {
		why, in string
		framing Framing
		want    []int // before each Read, of which the last one ends the body
	}{
		{"length", "hello next", Framing{Kind: Length, Length: 5}, []int{5}},
		{"part of a length", "hel", Framing{Kind: Length, Length: 5}, []int{3, 0}},
		{"no body", "next", Framing{}, []int{0}},
		{"until close", "hello", Framing{Kind: UntilClose}, []int{5, 0}},
		{"chunks", hello + "3\r\nabc\r\n0\r\nA: b\r\n\r\nnext", Framing{Kind: Chunked}, []int{5, 3, 0}},
		{"chunk and end", hello + "0\r\n\r\nnext", Framing{Kind: Chunked}, []int{5}}, // Read gives both
		{"part of a chunk", "5\r\nhel", Framing{Kind: Chunked}, []int{3, 0}},
		{"size line alone", "5\r\n", Framing{Kind: Chunked}, []int{0}},
		{"part of a size line", "5\r", Framing{Kind: Chunked}, []int{0}},
		{"bad size line", "x\r\nhello", Framing{Kind: Chunked}, []int{0}},
	} {
		br := bufio.NewReader(strings.NewReader(c.in))
		_, _ = br.Peek(len(c.in))
		body := NewBody(br, c.framing)
		for i, want := range c.want {
			if got := body.Buffered(); got != want {
				t.Errorf("%s: %d bytes before Read %d, want %d", c.why, got, i, want)
			}
			n, err := body.Read(make([]byte, 100))
			if n != want || (err != nil) != (i == len(c.want)-1) {
				t.Errorf("%s: Read %d: %d, %v", c.why, i, n, err)
			}
		}
	}
}

func TestChunkAndEndComeTogether(t *testing.T) {
	br := bufio.NewReader(strings.NewReader(hello + "0\r\n\r\nnext"))
	if n, err := NewBody(br, Framing{Kind: Chunked}).Read(make([]byte, 100)); n != 5 || err != io.EOF {
		t.Errorf("%d, %v", n, err)
	}
}

func TestReadingChunksCostsNoMemory(t *testing.T) {
	wire := chunkPieces([][]byte{make([]byte, 100), make([]byte, 2000), make([]byte, 3)}, nil)
	var in bytes.Reader
	var body Body
	br := bufio.NewReader(nil)
	buf := make([]byte, 4096)
	n := testing.AllocsPerRun(100, func() {
		in.Reset(wire)
		br.Reset(&in)
		body.Reset(br, Framing{Kind: Chunked, strict: true})
		for {
			if _, err := body.Read(buf); err == io.EOF {
				return
			} else if err != nil {
				t.Fatal(err)
			}
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzChunked(f *testing.F) {
	for _, s := range []string{
		hello + "0\r\n\r\n", hello + "0\r\n\r\nnext", "5;a=\"b\"\r\nhello\r\n0\r\nA: b\r\n\r\n", "5 \r\nhello\r\n0\r\n\r\n", "0005\r\nhello\r\n00\r\n\r\n",
		"0x5\r\nhello\r\n0\r\n\r\n", "5\nhello\n0\n\n", "fffffffffffffffff\r\n", "5\r\nhello0\r\n\r\n", hello + "0\r\nContent-Length: 5\r\n\r\n",
	} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, wire []byte, strict bool) {
		framing := Framing{Kind: Chunked, strict: strict}
		br := bufio.NewReader(bytes.NewReader(wire))
		body := NewBody(br, framing)
		got, err := readIn(body, 4096)
		rest, _ := io.ReadAll(br)
		for _, how := range arrivals {
			again, aerr := readIn(NewBody(bufio.NewReaderSize(how.wrap(bytes.NewReader(wire)), 16), framing), 3)
			if !bytes.Equal(again, got) || aerr != err {
				t.Fatalf("%q, %v, but %s %q, %v", got, err, how.name, again, aerr)
			}
		}
		if err != nil {
			if err != ErrChunk && err != io.ErrUnexpectedEOF {
				t.Fatal(err)
			}
			return
		}
		if strict {
			if _, err := readIn(NewBody(bufio.NewReader(bytes.NewReader(wire)), Framing{Kind: Chunked}), 4096); err != nil {
				t.Fatalf("good in a request, but in a response: %v", err)
			}
		}
		chunksAgree(t, wire, got, rest)
		again, err := readIn(NewBody(bufio.NewReader(bytes.NewReader(chunkPieces([][]byte{got}, body.Trailer()))), Framing{Kind: Chunked, strict: true}), 4096)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%q was written and read as %q, %v", got, again, err)
		}
	})
}

// chunksAgree compares with net/http, which may refuse what is accepted here
// but may not read it differently.
func chunksAgree(t *testing.T, wire, want, rest []byte) {
	t.Helper()
	br := bufio.NewReader(io.MultiReader(strings.NewReader("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), bytes.NewReader(wire)))
	resp, err := http.ReadResponse(br, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	if !bytes.HasPrefix(want, got) {
		t.Fatalf("net/http reads %q, not %q", got, want)
	}
	if err != nil {
		return
	}
	if left, _ := io.ReadAll(br); !bytes.Equal(got, want) || !bytes.Equal(left, rest) {
		t.Fatalf("net/http reads %q and leaves %q, not %q and %q", got, left, want, rest)
	}
}
