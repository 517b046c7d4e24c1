package pool

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

func TestSubscriptionInBase64(t *testing.T) {
	const lines = "socks://dXNlcjpwOnM=@h1.example:1080#Berlin%20%231\r\nsocks5://user:p%40ss@h2.example:1080#\n" +
		"http://dXNlcg@h3.example:80\nss://s3cret@h:1#x\nvmess://s3cret\nh4.example:1?:user:pass>?\n" +
		"h5.example:1:user:pass\n[::1]:1 weight=2"
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		text := encoding.EncodeToString([]byte(lines))
		for _, wrapped := range []string{text, text + "\n", "\ufeff\r\n" + text[:76] + "\r\n" + text[76:] + "\r\n"} {
			list := parseText(t, wrapped)
			if got := addresses(list.Specs); got != "h1.example:1080 h2.example:1080 h3.example:80 h5.example:1 [::1]:1" {
				t.Fatal(got)
			}
			s := list.Specs
			if s[0].User != "user" || s[0].Password.Reveal() != "p:s" || s[0].Name != "Berlin #1" || s[1].Password.Reveal() != "p@ss" || s[1].Name != "" {
				t.Errorf("%+v, %+v", s[0], s[1])
			}
			if s[2].User != "dXNlcg" || s[3].User != "user" || s[4].Weight != 2 {
				t.Errorf("%+v, %+v, %+v", s[2], s[3], s[4])
			}
			if len(list.Skipped) != 3 || list.Skipped[0].Line != 4 || !strings.HasPrefix(list.Skipped[0].Reason, `unknown scheme "ss"`) {
				t.Errorf("skipped: %v", list.Skipped)
			}
		}
	}
}

func TestOtherFormsMayBeInBase64(t *testing.T) {
	for _, text := range []string{`["192.0.2.1:1"]`, "ip,port\n192.0.2.1,1\n", clash} {
		if list := parseText(t, base64.StdEncoding.EncodeToString([]byte(text))); len(list.Specs) == 0 || len(list.Ignored) > 1 {
			t.Errorf("%.20q: %+v", text, list)
		}
	}
}

func TestWhatOnlyLooksLikeBase64IsReadAsLines(t *testing.T) {
	whole := base64.RawStdEncoding.EncodeToString([]byte("h:1\nh:2\n"))
	for _, text := range []string{
		"forbidden\n", "AAAA\n", "/w==", whole[:len(whole)-2] + "!", whole[:5],
		base64.StdEncoding.EncodeToString([]byte(whole)), // twice
	} {
		list, err := ParseList(strings.NewReader(text), nil)
		if !errors.Is(err, ErrNoProxies) || len(list.Skipped) == 0 {
			t.Errorf("%q: %v, %v", text, list.Skipped, err)
		}
	}
}
