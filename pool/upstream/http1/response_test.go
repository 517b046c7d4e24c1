package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func parseResponse(head string) (Response, error) {
	var r Response
	err := r.Parse(head)
	return r, err
}

func TestStatusLine(t *testing.T) {
	for _, c := range []struct {
		line   string
		status int // 0: not HTTP
		reason string
	}{
		{"HTTP/1.1 200 OK", 200, "OK"},
		{"HTTP/1.1 200", 200, ""},
		{"HTTP/1.1 200 ", 200, ""},
		{"HTTP/1.0 200 OK", 200, "OK"},
		{"HTTP/1.1 299 Odd", 299, "Odd"},
		{"HTTP/1.1 999 Request denied", 999, "Request denied"},
		{"HTTP/1.1 404 Not: Found ", 404, "Not: Found "},
		{"HTTP/1.1  200  OK", 200, " OK"},
		{"HTTP/1.1 200 caf\xe9", 200, "caf\xe9"},
		{"HTTP/1.1 200 a\x00b\rc\x1bd", 200, "a b c d"},
		{"HTTP/1.1 200 OK\r", 200, "OK"},
		{"HTTP/1.9 200 OK", 200, "OK"},

		{"", 0, ""},
		{"HTTP/1.1", 0, ""},
		{"HTTP/1.1 ", 0, ""},
		{"HTTP/1.1 OK", 0, ""},
		{"HTTP/1.1 20", 0, ""},
		{"HTTP/1.1 2000 OK", 0, ""},
		{"HTTP/1.1 204x Odd", 0, ""},
		{"HTTP/1.1 404: Not Found", 0, ""},
		{"HTTP/1.1 099 Low", 0, ""},
		{"HTTP/1.1 000 Zero", 0, ""},
		{"HTTP/1.1 +20 OK", 0, ""},
		{"HTTP/1.1 -20 OK", 0, ""},
		{"HTTP/1.1 2 0 OK", 0, ""},
		{"HTTP/1.1 200\tOK", 0, ""},
		{"HTTP/1.1\t200 OK", 0, ""},
		{"HTTP/1.1 2\xb20 OK", 0, ""},
		{" HTTP/1.1 200 OK", 0, ""},
		{"http/1.1 200 OK", 0, ""},
		{"HTTP/1 200 OK", 0, ""},
		{"HTTP/2 200", 0, ""},
		{"HTTP/2.0 200 OK", 0, ""},
		{"HTTP/0.9 200 OK", 0, ""},
		{"HTTP/1.10 200 OK", 0, ""},
		{"ICY 200 OK", 0, ""},
		{"SSH-2.0-OpenSSH_9.6", 0, ""},
		{"<html>", 0, ""},
		{"\x15\x03\x01", 0, ""},
	} {
		for _, end := range []string{"\r\n\r\n", "\n\n", "\r\nA: b\r\n\r\n"} {
			r, err := parseResponse(c.line + end)
			if c.status == 0 {
				if !errors.Is(err, ErrNotHTTP) {
					t.Errorf("%q was read as %+v, %v", c.line, r, err)
				}
				continue
			}
			if err != nil || r.Status != c.status || r.Reason != c.reason {
				t.Errorf("%q: %d %q, %v", c.line, r.Status, r.Reason, err)
			}
		}
	}
}

func TestResponseLinesAreRepairedOrDropped(t *testing.T) {
	for _, c := range []struct {
		why, lines string
		want       Fields
	}{
		{"legal", "A: b\r\nSet-Cookie: 1\r\nset-cookie: 2\r\n", Fields{{"A", "b"}, {"Set-Cookie", "1"}, {"set-cookie", "2"}}},
		{"no fields", "", nil},
		{"no blank", "A:b\r\n", Fields{{"A", "b"}}},
		{"empty", "A:\r\nB: \r\n", Fields{{"A", ""}, {"B", ""}}},
		{"bare LF", "A: b\nC: d\n", Fields{{"A", "b"}, {"C", "d"}}},
		{"bare CR", "A: b\rC: d\r\n", Fields{{"A", "b C: d"}}},
		{"two CRs", "A: b\r\r\nC: d\r\n", Fields{{"A", "b"}, {"C", "d"}}},
		{"control bytes", "A: \x00b\x00c\x7f\r\n", Fields{{"A", "b c"}}},
		{"tab", "A: b\tc\r\n", Fields{{"A", "b\tc"}}},
		{"obs-text", "A: caf\xe9\r\n", Fields{{"A", "caf\xe9"}}},
		{"blank before the colon", "A : b\r\nC\t : d\r\n", Fields{{"A", "b"}, {"C", "d"}}},
		{"blank in the name", "Bad Name : v\r\nA: b\r\n", Fields{{"A", "b"}}},
		{"name of others bytes", "B\xc3: v\r\nB[d: v\r\nB\x00: v\r\nA: b\r\n", Fields{{"A", "b"}}},
		{"no name", ": v\r\n : v\r\nA: b\r\n", Fields{{"A", "b"}}},
		{"no colon", "nonsense\r\nA: b\r\n", Fields{{"A", "b"}}},
		{"advertisement", "Secured by acme :\r\nA: b\r\n", Fields{{"A", "b"}}},
		{"second status line", "HTTP/1.1 200 OK\r\nA: b\r\n", Fields{{"A", "b"}}},

		{"folded", "A: b\r\n c\r\n\t d \r\nE: f\r\n", Fields{{"A", "b c d"}, {"E", "f"}}},
		{"folded by bare LF", "A: b\n c\nE: f\n", Fields{{"A", "b c"}, {"E", "f"}}},
		{"folded before the value", "A:\r\n b\r\n", Fields{{"A", "b"}}},
		{"folded last", "A: b\r\n c\r\n", Fields{{"A", "b c"}}},
		{"folded blanks", "A: b\r\n \t\r\n c\r\n \r\n", Fields{{"A", "b c"}}},
		{"folded with a control byte", "A: b\r\n c\x00d\r\n", Fields{{"A", "b c d"}}},
		{"folded field", "A: b\r\n C: d\r\n", Fields{{"A", "b C: d"}}},
		{"folded onto the status line", " A: b\r\n\tC: d\r\nE: f\r\n", Fields{{"E", "f"}}},
		{"folded onto a dropped line", "A: b\r\nBad Name: v\r\n c\r\nnonsense\r\n d\r\nE: f\r\n", Fields{{"A", "b"}, {"E", "f"}}},
		{"folded name", "A: b\r\nContent-Length\r\n : 5\r\nE: f\r\n", Fields{{"A", "b"}, {"E", "f"}}},
	} {
		r, err := parseResponse("HTTP/1.1 200 OK\r\n" + c.lines + "\r\n")
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
		}
		if len(r.Fields) == 0 {
			r.Fields = nil
		}
		if diff := cmp.Diff(c.want, r.Fields); diff != "" {
			t.Errorf("%s: %s", c.why, diff)
		}
	}
}

func TestFoldsAreJoinedInLinearTime(t *testing.T) {
	const n = 200_000 // joined one by one they would be copied 20 GB
	r, err := parseResponse("HTTP/1.1 200 OK\r\nA: b\r\n" + strings.Repeat(" c\r\n", n) + "\r\n")
	if err != nil || len(r.Fields) != 1 || len(r.Fields[0].Value) != 1+2*n {
		t.Errorf("%d fields, %v", len(r.Fields), err)
	}
}

func TestResponseWithTooManyFields(t *testing.T) {
	lines := strings.Repeat("A: b\r\n", MaxFields)
	if r, err := parseResponse("HTTP/1.1 200 OK\r\n" + lines + "\r\n"); err != nil || len(r.Fields) != MaxFields {
		t.Errorf("%d fields: %v", MaxFields, err)
	}
	if _, err := parseResponse("HTTP/1.1 200 OK\r\n" + lines + "A: b\r\n\r\n"); !errors.Is(err, ErrHeadTooLarge) {
		t.Errorf("%d fields: %v", MaxFields+1, err)
	}
	if _, err := parseResponse("HTTP/1.1 200 OK\r\n" + lines + "dropped\r\n\r\n"); err != nil {
		t.Errorf("%d fields and a dropped line: %v", MaxFields, err)
	}
}

func TestResponseKeepsNothingOfTheOneBefore(t *testing.T) {
	r, err := parseResponse("HTTP/1.1 200 OK\r\nA: b\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	if err = r.Parse("HTTP/1.0 404\r\n\r\n"); err != nil || r.Status != 404 || r.Reason != "" || r.Minor != 0 || len(r.Fields) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if err = r.Parse("nonsense\r\n\r\n"); err == nil || r.Status != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestResponseKeepAlive(t *testing.T) {
	for _, c := range []struct {
		minor int
		lines string
		want  bool
	}{
		{1, "", true},
		{1, "Connection: keep-alive\r\n", true},
		{1, "Connection: close\r\n", false},
		{1, "connection: x, Close\r\n", false},
		{1, "Proxy-Connection: close\r\n", false},
		{1, "Connection: keep-alive, close\r\n", false},
		{0, "", false},
		{0, "Connection: Keep-Alive\r\n", true},
		{0, "Proxy-Connection: keep-alive\r\n", true},
		{0, "Connection: keep-alive\r\nConnection: close\r\n", false},
	} {
		r, err := parseResponse(fmt.Sprintf("HTTP/1.%d 200 OK\r\n%s\r\n", c.minor, c.lines))
		if got := r.KeepAlive(); err != nil || got != c.want {
			t.Errorf("1.%d %q: %v, %v", c.minor, c.lines, got, err)
		}
	}
}

func TestResponseOfLegalPartsParsesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Response{Status: rapid.IntRange(100, 999).Draw(t, "status"), Reason: values.Draw(t, "reason"), Minor: 1, Fields: drawFields(t)}
		head := AppendStatusLine(nil, want.Status, want.Reason)
		got, err := parseResponse(string(append(want.Fields.Append(head), "\r\n"...)))
		if err != nil || !sameResponse(got, want) {
			t.Fatalf("%+v, %v", got, err)
		}
	})
}

func sameResponse(a, b Response) bool {
	return a.Status == b.Status && a.Reason == b.Reason && a.Minor == b.Minor && fmt.Sprintf("%q", a.Fields) == fmt.Sprintf("%q", b.Fields)
}

func FuzzResponse(f *testing.F) {
	for _, lines := range []string{
		"", "Content-Length: 5\r\n", "Content-Length: 5, 5\r\n", "Content-Length: 5\r\n 6\r\n", "Transfer-Encoding: chunked\r\n",
		"Transfer-Encoding : chunked\r\nContent-Length: 5\r\n", "Content Length: 5\r\n x\r\n", "A: b\n\tc\nD\x00: e\nF: \x00g\n", " x\r\nContent-Length: 3\r\n",
	} {
		f.Add([]byte("HTTP/1.1 200 OK\r\n"+lines+"\r\nhello"), false)
		f.Add([]byte("HTTP/1.0 304\n"+lines+"\n"), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, isHead bool) {
		head, err := ReadHead(bufio.NewReader(bytes.NewReader(text)), 64<<10)
		if err != nil {
			return
		}
		r, err := parseResponse(head)
		if err != nil {
			if !errors.Is(err, ErrNotHTTP) && !errors.Is(err, ErrHeadTooLarge) {
				t.Fatal(err)
			}
			return
		}
		method := "GET"
		if isHead {
			method = "HEAD"
		}
		framing, err := r.Framing(method)
		if err == nil {
			passesOn(t, r, method, framing)
			if isClean(head) {
				answersAgree(t, text, method, framing)
			}
		}
	})
}

// passesOn checks that what the client gets is legal and ends where it did.
func passesOn(t *testing.T, r Response, method string, framing Framing) {
	t.Helper()
	sent := r.Fields.EndToEnd(nil, framing)
	head := string(append(sent.Append(AppendStatusLine(nil, r.Status, r.Reason)), "\r\n"...))
	strictLines, err := parseRequest("GET / HTTP/1.1\r\n" + head[strings.IndexByte(head, '\n')+1:])
	if err != nil || fmt.Sprintf("%q", strictLines.Fields) != fmt.Sprintf("%q", sent) {
		t.Fatalf("%q is passed on as %q, %v", r.Fields, head, err)
	}
	again, err := parseResponse(head)
	again.Minor = r.Minor
	if err != nil || !sameResponse(again, Response{Status: r.Status, Reason: r.Reason, Minor: r.Minor, Fields: sent}) {
		t.Fatalf("%q is read again as %+v, %v", head, again, err)
	}
	framing.Odd = framing.Kind == UntilClose // the client is told of one framing only
	if got, err := again.Framing(method); err != nil || got != framing {
		t.Fatalf("framing %+v is passed on as %+v, %v in %q", framing, got, err, head)
	}
}

// isClean says whether nothing in the head had to be repaired: repaired, two
// readers may well see different things.
func isClean(head string) bool {
	_, rest, _ := strings.Cut(head, "\n")
	_, err := parseRequest("GET / HTTP/1.1\r\n" + rest)
	return err == nil
}

func answersAgree(t *testing.T, text []byte, method string, f Framing) {
	t.Helper()
	theirs, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(text)), &http.Request{Method: method})
	if err != nil || f.Kind == NoBody {
		return // their ContentLength is what the response says, not what it has
	}
	length := f.Length
	if f.Kind != Length {
		length = -1
	}
	if theirs.ContentLength != length || (len(theirs.TransferEncoding) > 0) != (f.Kind == Chunked) {
		t.Errorf("%+v, but net/http: length %d, coding %q", f, theirs.ContentLength, theirs.TransferEncoding)
	}
}
