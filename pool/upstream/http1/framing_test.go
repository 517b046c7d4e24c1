package http1

import (
	"errors"
	"testing"
)

func TestRequestFraming(t *testing.T) {
	for _, c := range []struct {
		lines  string
		want   Framing
		status int
	}{
		{"", Framing{}, 0},
		{"Content-Length: 0\r\n", Framing{Kind: Length}, 0},
		{"content-length: 5\r\n", Framing{Kind: Length, Length: 5}, 0},
		{"Content-Length:5\r\n", Framing{Kind: Length, Length: 5}, 0},
		{"Content-Length: \t5 \r\n", Framing{Kind: Length, Length: 5}, 0},
		{"Content-Length: 0200\r\n", Framing{Kind: Length, Length: 200}, 0}, // not octal
		{"Content-Length: 9223372036854775807\r\n", Framing{Kind: Length, Length: 1<<63 - 1}, 0},
		{"Content-Length: 5\r\nContent-Length: 5\r\n", Framing{Kind: Length, Length: 5}, 0},
		{"Transfer-Encoding: chunked\r\n", Framing{Kind: Chunked, strict: true}, 0},
		{"transfer-encoding:\tChUnKeD \r\n", Framing{Kind: Chunked, strict: true}, 0},
		{"Transfer_Encoding: chunked\r\nContent-Length: 5\r\n", Framing{Kind: Length, Length: 5}, 0},

		{"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", Framing{}, 400},
		{"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", Framing{}, 400},
		{"Transfer-Encoding: chunked\r\nContent-Length: x\r\n", Framing{}, 400},
		{"Transfer-Encoding: \r\nContent-Length: 5\r\n", Framing{}, 400},
		{"Transfer-Encoding: identity\r\nContent-Length: 5\r\n", Framing{}, 400},

		{"Content-Length: 3\r\nContent-Length: 8\r\n", Framing{}, 400},
		{"Content-Length: 3\r\ncontent-length: 3\r\nCONTENT-LENGTH: 8\r\n", Framing{}, 400},
		{"Content-Length: 3\r\nContent-Length: x\r\n", Framing{}, 400},
		{"Content-Length: 3\r\nContent-Length:\r\n", Framing{}, 400},
		{"Content-Length: 5, 5\r\n", Framing{}, 400},
		{"Content-Length: 5, 6\r\n", Framing{}, 400},
		{"Content-Length: 5,\r\n", Framing{}, 400},
		{"Content-Length:\r\n", Framing{}, 400},
		{"Content-Length: +5\r\n", Framing{}, 400},
		{"Content-Length: -5\r\n", Framing{}, 400},
		{"Content-Length: -0\r\n", Framing{}, 400},
		{"Content-Length: 1 0\r\n", Framing{}, 400},
		{"Content-Length: 1_0\r\n", Framing{}, 400},
		{"Content-Length: 0x5\r\n", Framing{}, 400},
		{"Content-Length: 0o5\r\n", Framing{}, 400},
		{"Content-Length: 5.0\r\n", Framing{}, 400},
		{"Content-Length: 1e1\r\n", Framing{}, 400},
		{"Content-Length: \"5\"\r\n", Framing{}, 400},
		{"Content-Length: \xef\xbc\x95\r\n", Framing{}, 400}, // a digit, though not ASCII's
		{"Content-Length: 9223372036854775808\r\n", Framing{}, 400},
		{"Content-Length: 18446744073709551621\r\n", Framing{}, 400}, // 5 modulo 2^64

		// The last coding must be chunked, and only the last (RFC 9112 section 6.3).
		{"Transfer-Encoding:\r\n", Framing{}, 400},
		{"Transfer-Encoding: xchunked\r\n", Framing{}, 400},
		{"Transfer-Encoding: chunkedx\r\n", Framing{}, 400},
		{"Transfer-Encoding: chun\u212aed\r\n", Framing{}, 400}, // the Kelvin sign
		{"Transfer-Encoding: \"chunked\"\r\n", Framing{}, 400},
		{"Transfer-Encoding: 'chunked'\r\n", Framing{}, 400},
		{"Transfer-Encoding: chunked;q=1\r\n", Framing{}, 400},
		{"Transfer-Encoding: chunked chunked\r\n", Framing{}, 400},
		{"Transfer-Encoding: chunked, identity\r\n", Framing{}, 400},
		{"Transfer-Encoding: chunked, gzip\r\n", Framing{}, 400},
		{"Transfer-Encoding: chunked, chunked\r\n", Framing{}, 400},
		{"Transfer-Encoding: chunked,\r\n", Framing{}, 400},
		{"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", Framing{}, 400},
		{"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", Framing{}, 400},
		{"Transfer-Encoding: chunked\r\ntransfer-encoding:\r\n", Framing{}, 400},
		{"Transfer-Encoding: gzip\r\n", Framing{}, 400},
		{"Transfer-Encoding: identity\r\n", Framing{}, 400},
		// The end could be found, but not what is in front of it.
		{"Transfer-Encoding: gzip, chunked\r\n", Framing{}, 501},
		{"Transfer-Encoding: identity\r\nTransfer-Encoding: Chunked\r\n", Framing{}, 501},
		{"Transfer-Encoding: , chunked\r\n", Framing{}, 501},
	} {
		r, err := parseRequest("POST / HTTP/1.1\r\n" + c.lines + "\r\n")
		if err != nil {
			t.Errorf("%q: %v", c.lines, err)
			continue
		}
		got, err := r.Framing()
		if got != c.want || statusOf(t, err) != c.status {
			t.Errorf("%q: %+v, %v; want %+v, status %d", c.lines, got, err, c.want, c.status)
		}
	}
}

func TestTransferEncodingInOldRequest(t *testing.T) {
	for lines, status := range map[string]int{
		"Transfer-Encoding: chunked\r\n":                         400,
		"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n":    400,
		"Transfer-Encoding: gzip, chunked\r\n":                   400,
		"Content-Length: 5\r\n":                                  0,
		"Content-Length: 5\r\nConnection: Transfer-Encoding\r\n": 0,
	} {
		r, err := parseRequest("POST / HTTP/1.0\r\n" + lines + "\r\n")
		if err != nil {
			t.Fatal(err)
		}
		if f, err := r.Framing(); statusOf(t, err) != status {
			t.Errorf("%q: %+v, %v", lines, f, err)
		}
	}
}

func TestResponseFraming(t *testing.T) {
	var (
		none     = Framing{Kind: NoBody}
		told     = Framing{Kind: NoBody, Told: true}
		five     = Framing{Kind: Length, Length: 5}
		chunked  = Framing{Kind: Chunked}
		odd      = Framing{Kind: Chunked, Odd: true}
		closing  = Framing{Kind: UntilClose, Odd: true}
		doubtful = Framing{Kind: 99} // ErrFraming
	)
	for _, c := range []struct {
		method string
		status string // with the version
		lines  string
		want   Framing
	}{
		{"GET", "1.1 200", "", closing},
		{"GET", "1.0 200", "", closing},
		{"GET", "1.1 200", "Content-Length: 5\r\n", five},
		{"GET", "1.0 200", "Content-Length: 5\r\n", five},
		{"GET", "1.1 200", "Content-Length: 0\r\n", Framing{Kind: Length}},
		{"GET", "1.1 200", "Transfer-Encoding: Chunked\r\n", chunked},
		{"GET", "1.1 200", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", odd},
		{"GET", "1.1 200", "Content-Length: x\r\nTransfer-Encoding: chunked\r\n", odd},
		{"get", "1.1 200", "Content-Length: 5\r\n", five},
		{"head", "1.1 200", "Content-Length: 5\r\n", five}, // methods have a case

		// The one value that a list agrees on (RFC 9112 section 6.3, rule 5).
		{"GET", "1.1 200", "Content-Length: 5\r\nContent-Length: 5\r\n", five},
		{"GET", "1.1 200", "Content-Length: 5, 5\r\n", five},
		{"GET", "1.1 200", "Content-Length: 5,5 ,\t5\r\nContent-Length: 5\r\n", five},
		{"GET", "1.1 200", "Content-Length: 5, 6\r\n", doubtful},
		{"GET", "1.1 200", "Content-Length: 5, x\r\n", doubtful},
		{"GET", "1.1 200", "Content-Length: 5,\r\n", doubtful},
		{"GET", "1.1 200", "Content-Length: , 5\r\n", doubtful},
		{"GET", "1.1 200", "Content-Length: 5, 5\r\nContent-Length: 6\r\n", doubtful},
		{"GET", "1.1 200", "Content-Length: 3\r\nContent-Length: 8\r\n", doubtful},
		{"GET", "1.1 200", "Content-Length:\r\n", doubtful},
		{"GET", "1.1 200", "Content-Length: +5\r\n", doubtful},
		{"GET", "1.1 200", "Content-Length: 5\r\n 6\r\n", doubtful},
		{"GET", "1.1 200", "Content-Length: 5\x006\r\n", doubtful},
		{"GET", "1.1 200", "Content-Length: 9223372036854775808\r\n", doubtful},

		{"GET", "1.1 200", "Transfer-Encoding: Identity\r\n", closing},
		{"GET", "1.0 200", "Transfer-Encoding: identity\r\nContent-Length: 5\r\n", Framing{Kind: Length, Length: 5, Odd: true}},
		{"GET", "1.1 200", "Transfer-Encoding: identity\r\nContent-Length: x\r\n", doubtful},
		{"GET", "1.1 200", "Transfer-Encoding: identity, identity\r\n", doubtful},
		{"HEAD", "1.1 200", "Transfer-Encoding: identity\r\nContent-Length: 5\r\n", told},
		{"GET", "1.1 200", "Transfer-Encoding: gzip\r\n", doubtful},
		{"GET", "1.1 200", "Transfer-Encoding:\r\nContent-Length: 5\r\n", doubtful},
		{"GET", "1.1 200", "Transfer-Encoding: xchunked\r\n", doubtful},
		{"GET", "1.1 200", "Transfer-Encoding: chun\u212aed\r\n", doubtful},
		{"GET", "1.1 200", "Transfer-Encoding: chunked, identity\r\n", doubtful},
		{"GET", "1.1 200", "Transfer-Encoding: gzip, chunked\r\n", doubtful},
		{"GET", "1.1 200", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", doubtful},
		{"GET", "1.0 200", "Transfer-Encoding: chunked\r\n", doubtful}, // RFC 9112 section 6.1
		{"GET", "1.0 200", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", doubtful},

		{"HEAD", "1.1 200", "Content-Length: 5\r\n", told},
		{"HEAD", "1.1 200", "Content-Length: 5, 5\r\n", told},
		{"HEAD", "1.1 200", "Content-Length: x\r\n", none},
		{"HEAD", "1.1 200", "Transfer-Encoding: chunked\r\n", none},
		{"HEAD", "1.1 200", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", none},
		{"HEAD", "1.1 200", "", none},
		{"GET", "1.1 304", "Content-Length: 5\r\n", told},
		{"GET", "1.1 304", "Transfer-Encoding: chunked\r\n", none},
		{"GET", "1.1 204", "Content-Length: 5\r\n", none}, // RFC 9110 section 8.6: may not say it
		{"GET", "1.1 204", "Transfer-Encoding: chunked\r\n", none},
		{"HEAD", "1.1 204", "Content-Length: 5\r\n", none},
		{"GET", "1.1 100", "Content-Length: 5\r\n", none},
		{"GET", "1.1 103", "Transfer-Encoding: chunked\r\n", none},
		{"GET", "1.1 101", "", none},
		{"GET", "1.1 205", "", closing},
		{"CONNECT", "1.1 200", "Content-Length: 5\r\n", none}, // RFC 9112 section 6.3, rule 2
		{"CONNECT", "1.1 200", "Transfer-Encoding: chunked\r\n", none},
		{"CONNECT", "1.1 407", "Content-Length: 5\r\n", five},
	} {
		var r Response
		if err := r.Parse("HTTP/" + c.status + " X\r\n" + c.lines + "\r\n"); err != nil {
			t.Errorf("%s %s %q: %v", c.method, c.status, c.lines, err)
			continue
		}
		got, err := r.Framing(c.method)
		if errors.Is(err, ErrFraming) {
			got = doubtful
		} else if err != nil {
			t.Errorf("%s %s %q: %v", c.method, c.status, c.lines, err)
		}
		if got != c.want {
			t.Errorf("%s %s %q: %+v, want %+v", c.method, c.status, c.lines, got, c.want)
		}
	}
}

func TestFramingCostsNoMemory(t *testing.T) {
	for _, lines := range []string{"Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", ""} {
		r, err := parseRequest("POST / HTTP/1.1\r\n" + lines + "\r\n")
		if err != nil {
			t.Fatal(err)
		}
		resp := Response{Status: 200, Minor: 1, Fields: r.Fields}
		n := testing.AllocsPerRun(100, func() {
			_, err1 := r.Framing()
			_, err2 := resp.Framing("GET")
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
		})
		if n != 0 {
			t.Errorf("%q: %v allocations", lines, n)
		}
	}
}
