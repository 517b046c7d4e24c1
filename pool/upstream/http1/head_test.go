package http1

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// Readers that a connection may be behind: the ways in which bytes can come.
var arrivals = []struct {
	name string
	wrap func(io.Reader) io.Reader
}{
	{"in one piece", func(r io.Reader) io.Reader { return r }},
	{"byte by byte", iotest.OneByteReader},
	{"with the end of the connection", iotest.DataErrReader},
	{"in halves", iotest.HalfReader},
}

// readAll reads a head and what is behind it.
func readAll(br *bufio.Reader, limit int) (head, rest string, err error) {
	head, err = ReadHead(br, limit)
	if err != nil {
		return "", "", err
	}
	b, err := io.ReadAll(br)
	return head, string(b), err
}

func TestReadHeadLeavesWhatFollows(t *testing.T) {
	long := "GET / HTTP/1.1\r\nCookie: " + strings.Repeat("c", 9000) + "\r\n\r\n"
	heads := []string{
		"GET / HTTP/1.1\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n",
		"HTTP/1.1 200 OK\nX: y\n\n",
		"HTTP/1.1 200 OK\r\nX: y\n\r\n",
		"HTTP/1.1 200 OK\r\nX: y\r\n\n",
		"\r\n\r\n",
		"\n\n",
		"X: \r\r\n\r\n",
		long,
	}
	bodies := []string{"", "x", "\r\n", "\n\n", "\r\n\r\n", "body\r\n\r\n", "\x00\xff"}
	for _, head := range heads {
		for _, body := range bodies {
			for _, how := range arrivals {
				for _, size := range []int{16, 64, 4096, 16384} {
					br := bufio.NewReaderSize(how.wrap(strings.NewReader(head+body)), size)
					got, rest, err := readAll(br, 64<<10)
					if err != nil || got != head || rest != body {
						t.Fatalf("%.40q + %q %s, buffer %d: %.40q + %q, %v", head, body, how.name, size, got, rest, err)
					}
				}
			}
		}
	}
}

func TestReadHeadSplitAnywhere(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nAa: b\r\nCc: d\n\r\n"
	const text = head + "\r\nbody\r\n\r\n"
	for _, size := range []int{16, 32, 33, 34, 35, 4096} {
		for cut := range len(text) + 1 {
			r := io.MultiReader(strings.NewReader(text[:cut]), strings.NewReader(text[cut:]))
			got, rest, err := readAll(bufio.NewReaderSize(r, size), 64<<10)
			if err != nil || got != head || got+rest != text {
				t.Errorf("cut at %d, buffer %d: %q + %q, %v", cut, size, got, rest, err)
			}
		}
	}
}

func TestHeadCutShort(t *testing.T) {
	const head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	for n := range len(head) {
		for _, how := range arrivals {
			for _, size := range []int{16, 4096} {
				want := io.ErrUnexpectedEOF
				if n == 0 {
					want = io.EOF
				}
				br := bufio.NewReaderSize(how.wrap(strings.NewReader(head[:n])), size)
				if got, err := ReadHead(br, 100); err != want || got != "" {
					t.Errorf("%q %s, buffer %d: %q, %v", head[:n], how.name, size, got, err)
				}
			}
		}
	}
}

func TestReadHeadKeepsTheErrorOfTheConnection(t *testing.T) {
	r := iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("GET / HTTP/1.1\r\n\r\n")))
	if _, err := ReadHead(bufio.NewReader(r), 100); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("got %v", err)
	}
}

func TestHeadLimitToTheByte(t *testing.T) {
	const line = "GET /0123456789 HTTP/1.1\r\n"
	head := line + "Host: " + strings.Repeat("a", 60) + "\r\n\r\n"
	for limit := 1; limit <= len(head)+20; limit++ {
		var want error
		switch {
		case limit < len(line):
			want = ErrLineTooLong
		case limit < len(head):
			want = ErrHeadTooLarge
		}
		for _, how := range arrivals {
			for _, size := range []int{16, 40, 4096} {
				br := bufio.NewReaderSize(how.wrap(strings.NewReader(head+"body\n\n")), size)
				got, err := ReadHead(br, limit)
				if err != want || err == nil && got != head {
					t.Fatalf("limit %d %s, buffer %d: %q, %v, want %v", limit, how.name, size, got, err, want)
				}
			}
		}
	}
}

func TestEndlessHeadIsGivenUp(t *testing.T) {
	br := bufio.NewReader(endless{'a'})
	if _, err := ReadHead(br, 64<<10); err != ErrLineTooLong {
		t.Errorf("endless line: %v", err)
	}
	br = bufio.NewReader(io.MultiReader(strings.NewReader("GET / HTTP/1.1\r\n"), endless{'a'}))
	if _, err := ReadHead(br, 64<<10); err != ErrHeadTooLarge {
		t.Errorf("endless field: %v", err)
	}
}

type endless struct{ c byte }

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.c
	}
	return len(p), nil
}

func TestSkipBlankLines(t *testing.T) {
	for _, c := range []struct{ in, left string }{
		{"GET", "GET"},
		{"\r\nGET", "GET"},
		{"\r\n\r\n\r\n\r\nGET", "GET"},
		{"\r\n\r\n\r\n\r\n\r\nGET", "\r\nGET"}, // no more than four
		{"\nGET", "\nGET"},
		{"\rGET", "\rGET"}, // a bare CR is no line end
		{"\r\r\nGET", "\r\r\nGET"},
		{"\r\n\nGET", "\nGET"},
	} {
		for _, how := range arrivals {
			br := bufio.NewReader(how.wrap(strings.NewReader(c.in)))
			err := SkipBlankLines(br)
			if rest, _ := io.ReadAll(br); err != nil || string(rest) != c.left {
				t.Errorf("%q %s: left %q, %v", c.in, how.name, rest, err)
			}
		}
	}
}

func TestConnectionThatEndsBehindBlankLines(t *testing.T) {
	for _, in := range []string{"", "\r\n", "\r\n\r\n\r\n\r\n", "\r\n\r\n\r\n\r", "\r"} {
		br := bufio.NewReader(strings.NewReader(in))
		if err := SkipBlankLines(br); err != io.EOF {
			t.Errorf("%q: %v and %d bytes buffered, want EOF", in, err, br.Buffered())
		}
	}
}

func FuzzReadHead(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\nHost: a\r\n\r\nbody"), 100, 16)
	f.Add([]byte("HTTP/1.1 200 OK\n\nbody\r\n\r\n"), 20, 4096)
	f.Add([]byte("\r\n\r\n\n\n"), 3, 17)
	f.Add([]byte("GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa HTTP/1.1\r\n"), 10, 20)
	f.Fuzz(func(t *testing.T, text []byte, limit, size int) {
		limit, size = 1+limit&0xfff, 16+size&0xfff
		want := naiveHead(string(text), limit)
		for _, how := range arrivals {
			br := bufio.NewReaderSize(how.wrap(strings.NewReader(string(text))), size)
			head, rest, err := readAll(br, limit)
			if err != want.err || head != want.head || err == nil && head+rest != string(text) {
				t.Errorf("%q %s: %q + %q, %v, want %q, %v", text, how.name, head, rest, err, want.head, want.err)
			}
		}
	})
}

type headResult struct {
	head string
	err  error
}

// naiveHead is what ReadHead should find in a whole text.
func naiveHead(text string, limit int) headResult {
	end := len(text) + 1
	for _, mark := range []string{"\n\n", "\n\r\n"} {
		if i := strings.Index(text, mark); i >= 0 {
			end = min(end, i+len(mark))
		}
	}
	switch {
	case end <= min(limit, len(text)):
		return headResult{head: text[:end]}
	case len(text) < limit && text == "":
		return headResult{err: io.EOF}
	case len(text) < limit:
		return headResult{err: io.ErrUnexpectedEOF}
	case !strings.Contains(text[:limit], "\n"):
		return headResult{err: ErrLineTooLong}
	}
	return headResult{err: ErrHeadTooLarge}
}
