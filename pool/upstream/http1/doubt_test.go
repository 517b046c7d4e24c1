package http1

import (
	"bufio"
	"errors"
	"strings"
	"testing"
)

const two = "Content-Length: 2\r\n"

// What one reader repairs is another message to the next.
func TestHeadThatTwoReadersReadDifferentlyWasRepaired(t *testing.T) {
	for why, lines := range map[string]string{
		"control byte in the coding":      "Transfer-Encoding:\x0bchunked\r\n",
		"control byte in the length":      "Content-Length: 2\x0b\r\n",
		"control byte in Connection":      two + "Connection: close\x0c\r\n",
		"odd byte in Connection":          two + "Connection: close\xa0\r\n",
		"folded coding":                   "Transfer-Encoding:\r\n chunked\r\n",
		"bare CR hides a length":          "X: a\rContent-Length: 9\r\n" + two,
		"two CRs":                         two + "X: a\r\r\n",
		"NUL in a value":                  two + "X: a\x00b\r\n",
		"odd byte in a name":              "Transfer\xad-Encoding: chunked\r\n" + two,
		"control byte in a name":          "Transfer-Encoding\x0b: chunked\r\n" + two,
		"blank in the name of a length":   "Content Length: 9\r\n" + two,
		"folded name of a coding":         "Transfer-Encoding\r\n : chunked\r\n" + two,
		"coding behind the status line":   " Transfer-Encoding: chunked\r\n" + two,
		"coding folded onto no field":     two + "nonsense\r\n Transfer-Encoding: chunked\r\n",
		"length whose colon is forgotten": "Content-Length 9\r\n" + two,
	} {
		for _, method := range []string{"GET", "HEAD"} {
			r, err := parseResponse("HTTP/1.1 200 OK\r\n" + lines + "\r\n")
			if err != nil {
				t.Fatal(err)
			}
			if f, err := r.Framing(method); !errors.Is(err, ErrFraming) {
				t.Errorf("%s, %s: %+v, %v", why, method, f, err)
			}
		}
	}
	if r, err := parseResponse("HTTP/1.1 103 a\rb\r\n\r\n"); err != nil {
		t.Fatal(err)
	} else if _, err = r.Framing("GET"); !errors.Is(err, ErrFraming) {
		t.Errorf("an interim response: %v", err)
	}
}

func TestConnectionWasReusedBehindAMendedHead(t *testing.T) {
	for lines, odd := range map[string]bool{
		two: false,
		"X: \tcaf\xe9 \r\nConnection: keep-alive\r\n" + two: false,
		two + "X: a\x1bb\x7f\r\n":                           true,
		two + "X : a\r\n":                                   true,
		two + "X: a\n":                                      true,
		two + "X: a\r\n b\r\n":                              true,
		two + "no colon\r\n":                                true,
		two + "X[a: b\r\n":                                  true,
		two + "Secured by magic :\r\n":                      true,
		"Content-Length : 2\r\n":                            true,
	} {
		r, err := parseResponse("HTTP/1.1 200 OK\r\n" + lines + "\r\n")
		if err != nil {
			t.Fatal(err)
		}
		if f, err := r.Framing("GET"); err != nil || f != (Framing{Kind: Length, Length: 2, Odd: odd}) {
			t.Errorf("%q: %+v, %v", lines, f, err)
		}
	}
	r, err := parseResponse("HTTP/1.1 200 O\x1bK\r\n" + two + "\r\n")
	if f, ferr := r.Framing("GET"); err != nil || ferr != nil || !f.Odd {
		t.Errorf("control byte in the reason: %+v, %v, %v", f, err, ferr)
	}
}

func TestConnectionWasReusedBehindMendedChunks(t *testing.T) {
	for wire, odd := range map[string]bool{
		hello + "0\r\n\r\n":                            false,
		"5;a=b\r\nhello\r\n0\r\nA: b\r\n\r\n":          false,
		"5 \r\nhello\r\n0\r\n\r\n":                     true,
		hello + "0;\r\n\r\n":                           true,
		hello + "0\r\nA: b\rContent-Length: 9\r\n\r\n": true,
		hello + "0\r\nnonsense\r\n\r\n":                true,
	} {
		body := NewBody(bufio.NewReader(strings.NewReader(wire)), Framing{Kind: Chunked})
		if got, err := readIn(body, 10); string(got) != "hello" || err != nil || body.Odd() != odd {
			t.Errorf("%q: %q, %v, odd %v", wire, got, err, body.Odd())
		}
	}
}
