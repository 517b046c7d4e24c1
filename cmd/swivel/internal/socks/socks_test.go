package socks

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// reader gives the text at once, or byte by byte.
func reader(text string, slow bool) *bufio.Reader {
	var r io.Reader = strings.NewReader(text)
	if slow {
		r = iotest.OneByteReader(r)
	}
	return bufio.NewReader(r)
}

func TestOffers(t *testing.T) {
	for text, want := range map[string]Offer{
		"\x05\x01\x00":         {NoAuth: true},
		"\x05\x01\x02":         {Password: true},
		"\x05\x03\x00\x01\x02": {NoAuth: true, Password: true},
		"\x05\x02\x01\x80":     {},
		"\x05\x00":             {},
	} {
		for _, slow := range []bool{false, true} {
			br := reader(text+"rest", slow)
			got, err := ReadOffer(br)
			if err != nil || got != want {
				t.Errorf("%q: %+v, %v", text, got, err)
			}
			expectRest(t, br)
		}
	}
}

func TestPasswords(t *testing.T) {
	long := strings.Repeat("x", 255)
	for text, want := range map[string][2]string{
		"\x01\x05user1\x06s3cret":           {"user1", "s3cret"},
		"\x01\x01u\x00":                     {"u", ""},
		"\x01\x00\x00":                      {"", ""},
		"\x01\xff" + long + "\xff" + long:   {long, long},
		"\x01\x04a:b@\x04\x00c:\xff":        {"a:b@", "\x00c:\xff"},
		"\x01\x11user1-country-de\x2d\x01p": {"user1-country-de-", "p"},
	} {
		for _, slow := range []bool{false, true} {
			br := reader(text+"rest", slow)
			user, password, err := ReadPassword(br)
			if err != nil || [2]string{user, password} != want {
				t.Errorf("%q: %q, %q, %v", text, user, password, err)
			}
			expectRest(t, br)
		}
	}
}

func TestRequests(t *testing.T) {
	for text, want := range map[string]string{
		"\x05\x01\x00\x01\x7f\x00\x00\x01\x01\xbb":                       "127.0.0.1:443",
		"\x05\x01\x00\x03\x0bexample.org\x00\x50":                        "example.org:80",
		"\x05\x01\x00\x04" + strings.Repeat("\x00", 15) + "\x01\x1f\x90": "[::1]:8080",
		"\x05\x01\x00\x03\x03::1\x1f\x90":                                "[::1]:8080", // as some clients send what the user typed
		"\x05\x01\x00\x03\x09127.0.0.1\x00\x50":                          "127.0.0.1:80",
		"\x05\x01\x00\x03\x00\x00\x00":                                   ":0",
		"\x05\x01\x07\x01\x01\x02\x03\x04\xff\xff":                       "1.2.3.4:65535", // the third byte is reserved
	} {
		for _, slow := range []bool{false, true} {
			br := reader(text+"rest", slow)
			got, err := ReadRequest(br)
			if err != nil || got.Command != Connect || got.HostPort() != want {
				t.Errorf("%q: %+v, %s, %v", text, got, got.HostPort(), err)
			}
			expectRest(t, br)
		}
	}
}

func expectRest(t *testing.T, br *bufio.Reader) {
	t.Helper()
	if rest, err := io.ReadAll(br); err != nil || string(rest) != "rest" {
		t.Errorf("behind the message there was %q, %v", rest, err)
	}
}

func TestMessagesThatAreNone(t *testing.T) {
	offer := func(br *bufio.Reader) error { _, err := ReadOffer(br); return err }
	password := func(br *bufio.Reader) error { _, _, err := ReadPassword(br); return err }
	request := func(br *bufio.Reader) error { _, err := ReadRequest(br); return err }
	for _, c := range []struct {
		name, text string
		read       func(*bufio.Reader) error
		want       error
	}{
		{"SOCKS4", "\x04\x01\x00\x50", offer, ErrVersion},
		{"HTTP", "GET / HTTP/1.1\r\n\r\n", offer, ErrVersion},
		{"request instead of a password", "\x05\x01\x00\x01\x7f\x00\x00\x01\x01\xbb", password, ErrVersion},
		{"password instead of a request", "\x01\x01u\x01p", request, ErrVersion},
		{"unknown address", "\x05\x01\x00\x02\x7f\x00\x00\x01\x01\xbb", request, ErrAddress},
	} {
		if err := c.read(reader(c.text, false)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for text, read := range map[string]func(*bufio.Reader) error{
		"\x05\x02\x00":       offer,
		"\x01\x05user1\x01p": password,
		"\x05\x01\x00\x04" + strings.Repeat("\x00", 17) + "\x01": request,
		"\x05\x01\x00\x03\x03abc\x01\x02":                        request,
		"\x05\x01\x00\x01\x7f\x00\x00\x01\x01\x02":               request,
	} {
		for n := range len(text) { // ended after each byte but the last
			if err := read(reader(text[:n], false)); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%q: %v", text[:n], err)
			}
		}
	}
}

func TestAnswers(t *testing.T) {
	for want, got := range map[string][]byte{
		"\x05\x02": AppendMethod(nil, Password),
		"\x05\xff": AppendMethod(nil, NoMethod),
		"\x01\x00": AppendVerdict(nil, true),
		"\x01\x01": AppendVerdict(nil, false),
		"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00":  AppendReply(nil, Succeeded),
		"x\x05\x08\x00\x01\x00\x00\x00\x00\x00\x00": AppendReply([]byte("x"), AddressNotSupported),
	} {
		if string(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// FuzzClient reads what a client may send as a whole, at once and byte by byte:
// the same has to come out, and what is behind it has to stay.
func FuzzClient(f *testing.F) {
	for _, s := range []string{
		"\x05\x01\x00\x05\x01\x00\x03\x0bexample.org\x01\xbb\x16\x03\x01",
		"\x05\x02\x00\x02\x01\x05user1\x06s3cret\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50GET",
		"\x05\x01\x02\x01\x00\x00\x05\x03\x00\x04" + strings.Repeat("\x01", 18),
		"\x05\xff", "\x05\x01\x02\x01\xffx", "\x05\x00\x05\x01\x00\x02",
	} {
		f.Add([]byte(s))
	}
	type result struct {
		offer          Offer
		user, password string
		request        Request
		rest           string
		err            string
	}
	read := func(br *bufio.Reader) (r result) {
		var err error
		if r.offer, err = ReadOffer(br); err == nil && r.offer.Password {
			r.user, r.password, err = ReadPassword(br)
		}
		if err == nil {
			r.request, err = ReadRequest(br)
		}
		if err != nil {
			r.err = err.Error()
		}
		rest, _ := io.ReadAll(br)
		r.rest = string(rest)
		return r
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		at, slow := read(reader(string(data), false)), read(reader(string(data), true))
		if at != slow {
			t.Errorf("%+v, byte by byte %+v", at, slow)
		}
		if at.err == "" && !strings.HasSuffix(string(data), at.rest) {
			t.Errorf("of %q there is left %q", data, at.rest)
		}
	})
}
