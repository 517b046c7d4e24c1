package pool

import (
	"bytes"
	"encoding/base64"
	"errors"
	"math"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"swivel/pool/route"
)

var fuzzSeeds = []string{
	"127.0.0.1:7001", "h:1:us3r:s3cret", "us3r:s3cret@h:1", "us3r:s3cret:h:1", "[::1]:7001:us3r:s3cret", "::1:7001",
	"socks5://us3r:s3cret@h.example", "what://us3r:s3cret@h:1", "http://us3r:s3c%zzret@h:1", "http://us3r:s3cret@h:x",
	"socks5 h 1080 us3r s3cret", "h:1-3 weight=2 tag=\"a b\" rotating # x", "http://h:1/?a=s3cret@b", "socks4://us3r%00:s3cret@h:1",
	"\ufeffhttp://${PROXY_USER}:${NO}@h:1/", "h:1:us3r:s3 cret weight=s3cret", "# x", "h:1 open_timeout=2m colour=s3cret", "h:1:us3r:my s3cret=", "s3cret://x@h:1", "h:1:us3r:s3 s3cret=x", "u-country-{country}-session-{session}:{{city}}{x}@h:1-3 country=fr", "socks5://{{{random}}}:{city@h",
	"192.0.2.1\t80", "192.0.2.1 80 us3r s3cret", "2001:db8::1 80 DE elite s3cret SOCKS4/5 weight=2", "h.example 1-3 US socks5 # x",
	"192.0.2.1,80,us3r,s3cret", "- us3r:s3cret@h:1", "h:1@us3r:s3cret", "http_proxy=http://us3r:s3cret@h:1", "us3r:s3cret@h:1<br>",
}

// named finds where s3cret or us3r stands as what a message may name: a variable.
var named = regexp.MustCompile(`(?i)\$\{\w*(s3cret|us3r)`)

func FuzzParseLine(f *testing.F) {
	for _, seed := range fuzzSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		specs, err := ParseLine(line, testEnv)
		if err != nil {
			if len(specs) != 0 {
				t.Errorf("%d specs in spite of %v", len(specs), err)
			}
			checkReason(t, line, err.Error())
		}
		for i := range specs {
			if i > 3 && i < len(specs)-3 {
				continue // a range: its ends will do
			}
			checkSpec(t, specs[i])
		}
	})
}

func FuzzParseList(f *testing.F) {
	f.Add([]byte(strings.Join(fuzzSeeds, "\n")))
	f.Add([]byte("h:1\r\nh:1/\r\n\r\n" + fuzzSeeds[1]))
	f.Add([]byte("ip;port;user;pass;x\n192.0.2.1;1-3;us3r;s3cret;1\n\"a\nb\";s3cret\n"))
	f.Add([]byte("sep=;\r\nip;port;pass\r\n192.0.2.1;1;s3cret;\r\nip;port;pass\r\n"))
	f.Add([]byte("# x\r192.0.2.1:1:us3r:s3cret\r192.0.2.2\t80\tDE\telite s3cret\r\n"))
	f.Add([]byte("ip,port,user,pass\n192.0.2.1,1,us3r,\"s3cret\n192.0.2.1,2,us3r,\"s3\"cret\n; s3cret\n\"h\",3,us3r,s3c\"ret\n"))
	f.Add([]byte("us3r:s3cret@h:1\n\x00\n"))
	f.Add([]byte("<!DOCTYPE html>\nus3r:s3cret@h:1\n"))
	f.Add([]byte("|ip|port|\n|---|:-:|\n|192.0.2.1|1|\n"))
	f.Add([]byte("proxy,weight\nus3r:s3cret@h:1,2\n# x\n,s3cret\n"))
	f.Add([]byte(`["us3r:s3cret@h:1",{"host":"h","port":1,"user":"us3r","tags":["a"],"x":{}},7,{"url":"s3cret"}]`))
	f.Add([]byte(`{"data":[{"ip":"h","port":"1","protocols":["http","socks5"],"type":["elite",{}]},{"ip":"h","port":"2","type":"SOCKS4/5"}]}`))
	f.Add([]byte("{\"host\":\"h\",\"port\":1}\n{\"host\":\"s3cret\n[\"us3r:s3cret@h:1\"]\n\"us3r:s3cret@h:2\"\n"))
	f.Add([]byte("port: 1\nproxies:\n- {name: a, type: http, server: h, port: 1, username: us3r, password: s3cret, tls: true}\n- &b {type: ss}\n- *b\n- <<: *b\n  type: socks5\n"))
	f.Add([]byte(base64.StdEncoding.EncodeToString([]byte("socks://dXMzcjpzM2NyZXQ@h:1#a%20b\nss://s3cret@h:1\nus3r:s3cret:h:2"))))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := ParseList(strings.NewReader(string(text)), testEnv)
		if (err == nil) == (len(list.Specs) == 0) {
			t.Errorf("%d specs and %v", len(list.Specs), err)
		}
		export := utf16Order(text) != nil
		start := []byte(strings.TrimPrefix(string(text), "\ufeff"))
		if endsWithCR(start[:min(look, len(start))]) {
			text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
			start = []byte(strings.TrimPrefix(string(text), "\ufeff"))
		}
		_, length := separatorLine(start[:min(look, len(start))])
		export = export || isJSON(start[length:]) || isClash(start[length:]) || isBase64(start)
		if inside, ok := decodeBase64(string(start)); ok {
			text = append(text, inside...)
		}
		if err != nil {
			reason, _, _ := strings.Cut(err.Error(), "; columns that mean nothing here") // these are named
			checkReason(t, string(text), reason)
		}
		want := strings.Count(string(text), "\n")
		if list.Unfinished {
			want++
		}
		refused := err != nil && !errors.Is(err, ErrNoProxies) // as a whole
		if list.Lines != want && !export && !refused {
			t.Errorf("%d lines, want %d", list.Lines, want)
		}
		last := 0
		for _, skipped := range list.Skipped {
			if skipped.Line < last || skipped.Line == last && !export || skipped.Line > list.Lines {
				t.Errorf("line %d of %d after %d", skipped.Line, list.Lines, last)
			}
			last = skipped.Line
			checkReason(t, string(text), skipped.Error())
		}
		if again, more := Merge(list.Specs); more != 0 || len(again) != len(list.Specs) {
			t.Errorf("%d duplicates are left", more)
		}
	})
}

func FuzzSharedLink(f *testing.F) {
	f.Add("socks://dXMzcjpzM2NyZXQ@h:1#a%20b")
	f.Add("http://dXMzcjpzM2NyZXQ%3D%3D@h:1#%1b[2J")
	f.Add("ss://s3cret@h:1")
	f.Add("socks5://us3r:s3cret@h:1#" + strings.Repeat("x", 300) + "\xff")
	for _, seed := range fuzzSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		specs, err := (&lineParser{env: testEnv, shared: true}).appendSpecs(nil, line)
		if err != nil {
			checkReason(t, line, err.Error())
		}
		for i := range min(len(specs), 3) {
			checkSpec(t, specs[i])
			if back, err := ParseLine(specs[i].Line(), testEnv); err != nil || len(back) != 1 || back[0].Identity() != specs[i].Identity() {
				t.Errorf("%q gave %q, which gives %v", line, specs[i].Line(), err)
			}
		}
	})
}

// checkReason looks for the credentials of the seeds in a message.
func checkReason(t *testing.T, input, reason string) {
	t.Helper()
	if named.MatchString(input) {
		return
	}
	for _, secret := range []string{"s3cret", "us3r"} {
		if strings.Contains(reason, secret) {
			t.Errorf("quotes the credentials: %s", reason)
		}
	}
	if len(reason) > 1000 || strings.ContainsAny(reason, "\r\n\x00") {
		t.Errorf("not one short line: %q", reason)
	}
}

// checkSpec checks what every accepted line promises.
func checkSpec(t *testing.T, s *Spec) {
	t.Helper()
	if _, err := netip.ParseAddr(s.Host); err != nil && strings.Trim(s.Host, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
		t.Errorf("host %q", s.Host)
	}
	if s.Host == "" || len(s.Host) > 253 || s.Port == 0 || s.Scheme > SOCKS5H {
		t.Errorf("%s", s)
	}
	if !(s.Weight >= 0) || math.IsInf(s.Weight, 0) || !(s.Rate >= 0) || s.MaxInFlight < 0 {
		t.Errorf("weight %v, rate %v, max_in_flight %d", s.Weight, s.Rate, s.MaxInFlight)
	}
	if s.HasAuth != (s.User != "" || s.Password != "") {
		t.Errorf("auth %v with %q %q", s.HasAuth, s.User, s.Password.Reveal())
	}
	filled := s.For(route.Route{Country: "us", Session: "a:b"}, "r")
	if filled == s == s.Templated() {
		t.Errorf("templated %v, but filled with %q %q", s.Templated(), filled.User, filled.Password.Reveal())
	}
	if s.Scheme.canonical() == SOCKS5 && !s.Templated() && (len(filled.User) > 255 || len(filled.Password) > 255) {
		t.Errorf("%d and %d bytes of credentials", len(filled.User), len(filled.Password))
	}
	back, err := ParseLine(s.Identity(), nil)
	if err != nil || len(back) != 1 || back[0].Identity() != s.Identity() {
		t.Errorf("%s became %v, %v", s.Identity(), back, err)
	}
}
