package auth

import (
	"encoding/base64"
	"testing"
)

func encode(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func TestBasicCredentials(t *testing.T) {
	for _, c := range []struct {
		value, user, password string
		malformed             bool
	}{
		{value: "Basic dXNlcjE6czNjcmV0", user: "user1", password: "s3cret"},
		{value: "bAsIc dXNlcjE6czNjcmV0", user: "user1", password: "s3cret"},
		{value: "Basic   dXNlcjE6czNjcmV0", user: "user1", password: "s3cret"},
		{value: "Basic " + encode("user1:a:b:c"), user: "user1", password: "a:b:c"},
		{value: "Basic " + encode("user1:"), user: "user1"},
		{value: "Basic " + encode(":s3cret"), password: "s3cret"},
		{value: "Basic " + encode("üser:pässwörd"), user: "üser", password: "pässwörd"},
		{value: "Bearer abc"}, {value: "Digest username=\"x\""}, {value: ""}, {value: "Basically dXNlcjE6czNjcmV0"},
		{value: "Basic", malformed: true}, {value: "Basic !!!", malformed: true}, {value: "Basic dXNlcjE6czNjcmV0=", malformed: true},
		{value: "Basic " + encode("no colon"), malformed: true},
		{value: "Basic " + encode("us\x00er:x"), malformed: true}, {value: "Basic " + encode("user:x\r\nHost: y"), malformed: true},
	} {
		user, password, err := Basic(c.value)
		if user != c.user || password != c.password || (err != nil) != c.malformed {
			t.Errorf("%q: %q, %q, %v", c.value, user, password, err)
		}
	}
}

// A password that is not checked must not hide the name, which says what proxy
// the client wants.
func TestTheNameIsReadWhateverThePasswordIs(t *testing.T) {
	for value, want := range map[string]string{
		"Basic " + encode("a-country-de:x"):   "a-country-de",
		"Basic " + encode("a-country-de"):     "a-country-de",
		"basic " + encode("a-country-de:x\n"): "a-country-de",
		"Basic " + encode(":x"):               "", "Basic": "", "Basic !!!": "", "Bearer abc": "", "": "",
	} {
		if got := Name(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

func FuzzBasic(f *testing.F) {
	for _, s := range []string{"Basic dXNlcjE6czNjcmV0", "bAsIc  dXNlcjE6czNjcmV0", "Basic", "Basic !!!", "Bearer x", "Basic Og==", "Basic AAA="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		user, password, err := Basic(value)
		if err != nil && (user != "" || password != "") {
			t.Errorf("%q: %q, %q beside %v", value, user, password, err)
		}
		if user == "" && password == "" {
			return
		}
		again, same, err := Basic("Basic " + encode(user+":"+password))
		if err != nil || again != user || same != password {
			t.Errorf("%q: %q, %q become %q, %q, %v", value, user, password, again, same, err)
		}
	})
}
