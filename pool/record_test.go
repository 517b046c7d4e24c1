package pool

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// shown prints specs with their credentials, for comparison.
func shown(specs []*Spec) string {
	var all []string
	for i := range specs {
		s := specs[i]
		text := s.Identity()
		for _, v := range append([]string{s.Name, s.Country, s.City}, s.Tags...) {
			if v != "" {
				text += " " + v
			}
		}
		if s.Weight != 1 {
			text += fmt.Sprint(" x", s.Weight)
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

func TestExportsOfPanels(t *testing.T) {
	for name, c := range map[string]struct{ text, want, ignored string }{
		"table": {
			"ip,port,username,password\n192.0.2.1,8080,user1,p%40:ss\n192.0.2.2,8081,,\n",
			"http://user1:p%2540%3Ass@192.0.2.1:8080\nhttp://192.0.2.2:8081", "",
		},
		"table with a mark, CRLF, quotes and columns that mean nothing": {
			"\ufeff\"IP Address\";\"Port\";\"Protocol\";\"Country\";\"Anonymity\"\r\n\"192.0.2.1\";\"1080\";\"SOCKS5\";\"DE\";\"elite\"\r\n",
			"socks5://192.0.2.1:1080 DE", `"Anonymity"`,
		},
		"table of addresses": {
			"# exported\nproxy,weight,city,tag,tag\nsocks5://user1:p%40ss@gw.example,2,\"Bad Homburg\",a,b\n::1:5,1,,,\nuser1:pw:gw.example:8080,,x,,\n",
			"socks5://user1:p%40ss@gw.example:1080 Bad Homburg a b x2\nhttp://user1:pw@gw.example:8080 x", "",
		},
		"vendor's table": {
			"proxy_address|port|username|password|country_code|city_name\n2001:db8::1|10001-10002|u|p|US|Miami\n",
			"http://u:p@[2001:db8::1]:10001 US Miami\nhttp://u:p@[2001:db8::1]:10002 US Miami", "",
		},
		"lines in an array": {
			`["192.0.2.1:8080", "socks5://u:p@gw.example tag=a weight=2", "# no"]`,
			"http://192.0.2.1:8080\nsocks5://u:p@gw.example:1080 a x2", "",
		},
		"objects": {
			"[\n {\"ip\": \"192.0.2.1\", \"port\": 8080, \"protocols\": [\"http\"], \"weight\": 2.5, \"valid\": true},\n" +
				" {\"server\": \"https://gw.example\", \"username\": \"u:x\", \"password\": \"p@\", \"tags\": [\"a\", \"b\"], \"name\": null, \"rotating\": true}]\n",
			"http://192.0.2.1:8080 x2.5\nhttps://u%3Ax:p%40@gw.example:443 a b", `"valid"`,
		},
		"objects as a scheme column has them": {
			`[{"host":"gw.example","scheme":"socks4"},{"address":"gw.example:7","protocol":"socks5h","login":"${PROXY_USER}"},{"address":"gw.example","port":9}]`,
			"socks4://gw.example:1080\nsocks5://us3r:@gw.example:7\nhttp://gw.example:9", "",
		},
	} {
		list, err := ParseList(strings.NewReader(c.text), testEnv)
		if err != nil || shown(list.Specs) != c.want || strings.Join(list.Ignored, " ") != c.ignored {
			t.Errorf("%s: %v, skipped %v, ignored %v\n%s", name, err, list.Skipped, list.Ignored, shown(list.Specs))
		}
	}
}

func TestBadRowsAreSkippedWithTheirLine(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		lines []int
		parts []string
	}{
		"table": {
			"host,port,protocol,weight\n192.0.2.1,80,,\n192.0.2.2,s3cret,,\n\n# x\n192.0.2.3,80,gopher,\n192.0.2.4,80,,-1\n192.0.2.5,80,,1,2\n,80,,\n\"a\nb\",80,,\n",
			[]int{3, 6, 7, 8, 9, 10, 11}, []string{"port is not", "unknown protocol", "weight: ", "more fields", "no proxy", "not closed", "neither a name"},
		},
		"array": {
			"[\"192.0.2.1:80\",\n\"s3cret\",\n7, {\"host\": {}},\n{\"host\":\"h\",\"port\":1,\"open_timeout\":\"s3cret\"},\n\n{\"port\":[1,2]}, [], {\"url\":\"h:1 weight=2\"},\n{\"tag\":\"s3cret\"}]",
			[]int{2, 3, 3, 4, 6, 6, 6, 7}, []string{"no port", "neither a text", `"host": `, "open_timeout", `"port": `, "neither a text", "behind a blank", "no proxy"},
		},
	} {
		list, err := ParseList(strings.NewReader(c.text), testEnv)
		if err != nil || len(list.Specs) != 1 || len(list.Skipped) != len(c.lines) {
			t.Errorf("%s: %v, %d specs, skipped %v", name, err, len(list.Specs), list.Skipped)
			continue
		}
		for i, skipped := range list.Skipped {
			if skipped.Line != c.lines[i] || !strings.Contains(skipped.Reason, c.parts[i]) || strings.Contains(skipped.Reason, "s3cret") {
				t.Errorf("%s: %v, want line %d, %q", name, skipped, c.lines[i], c.parts[i])
			}
		}
	}
}

// TestBadElementOfALongLineIsFound: all of an array from a program is one line.
func TestBadElementOfALongLineIsFound(t *testing.T) {
	list := parseText(t, `["192.0.2.1:80","bad",{"host":"h"},`+"\n"+`"https://h:1 ca=x","u-{session}:p@h:2"]`)
	var got []string
	for _, skipped := range list.Skipped {
		got = append(got, skipped.Error())
	}
	want := "line 1, element 2: the address has no port; line 1, element 3: the address has no port"
	if strings.Join(got, "; ") != want || list.PlaceOf(list.Specs[1]).String() != "line 2, element 4" || list.Templates[0].Place.String() != "line 2, element 5" {
		t.Errorf("%q, %v, %v", got, list.PlaceOf(list.Specs[1]), list.Templates)
	}
	_, err := ParseList(strings.NewReader(`["192.0.2.1:80","192.0.2.2:80"`), nil)
	if err == nil || err.Error() != "behind line 1, element 2 the JSON is malformed, or not complete" {
		t.Error(err)
	}
}

// A file that is still being written must not replace the pool by a part of it.
func TestHalfWrittenExportsAreSeen(t *testing.T) {
	whole := `["192.0.2.1:80", {"host": "192.0.2.2", "port": 80}]`
	for end := 3; end < len(whole); end++ {
		if _, err := ParseList(strings.NewReader(whole[:end]), nil); err == nil {
			t.Errorf("%s was taken for whole", whole[:end])
		}
	}
	if _, err := ParseList(strings.NewReader(whole+"\n\n"), nil); err != nil {
		t.Error(err)
	}
	if _, err := ParseList(strings.NewReader(whole+"]"), nil); err == nil || errors.Is(err, ErrNoProxies) {
		t.Errorf("what stands behind the array was not seen: %v", err)
	}
	for text, want := range map[string]bool{"host,port\nh,1": true, "host,port\nh,1\n": false} {
		if list := parseText(t, text); list.Unfinished != want || len(list.Specs) != 1 {
			t.Errorf("%q: unfinished %v", text, list.Unfinished)
		}
	}
	fault := errors.New("disk on fire")
	for _, text := range []string{"host,port\nh,1\n", whole[:20]} {
		r := iotest.DataErrReader(iotest.OneByteReader(strings.NewReader(text)))
		if _, err := ParseList(readThen{r, fault}, nil); !errors.Is(err, fault) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// readThen is a reader that ends with an error.
type readThen struct {
	r   interface{ Read([]byte) (int, error) }
	err error
}

func (r readThen) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil {
		err = r.err
	}
	return n, err
}

func TestListsThatOnlyLookLikeExports(t *testing.T) {
	for _, text := range []string{"[::1]:80\n", "[2001:db8::1]:80\n192.0.2.1:80\n", "host:80\nport:80\n", "[]", "[ ]\n", "[x]:80"} {
		list, err := ParseList(strings.NewReader(text), nil)
		if want := strings.Count(text, ":80\n"); len(list.Specs) != want || (err == nil) != (want > 0) || slices.Contains(list.Ignored, "x") {
			t.Errorf("%q: %d specs, %v", text, len(list.Specs), err)
		}
	}
}

// Vendors' APIs answer with an object around the array, and some lists have an
// object a line.
func TestJSONThatIsNoArrayWasReadAsLines(t *testing.T) {
	const a, b = `{"ip": "127.0.0.1", "port": 7001.0}`, `{"host": "127.0.0.2", "port": "7001"}`
	for text, lines := range map[string][]int{
		"{\"count\": 2, \"next\": null,\n \"results\": [\n" + a + ",\n" + b + "]}": {3, 4},
		`{"data": {"proxies": [` + a + `, "127.0.0.2:7001"]}, "status": "ok"}`:     {1, 1},
		a + "\n" + b + "\n":     {1, 2},
		"\n\n" + a + "\n\n" + b: {3, 5},
		"\ufeff{\"data\": [" + a + "," + b + "], \"proxy_list\": 5}\r\n": {1, 1},
	} {
		list, err := ParseList(strings.NewReader(text), nil)
		if err != nil || len(list.Specs) != 2 || list.Specs[0].Port != 7001 || list.Specs[1].Host != "127.0.0.2" || len(list.Skipped) != 0 {
			t.Errorf("%q: %d proxies, skipped %v, %v", text, len(list.Specs), list.Skipped, err)
		}
		bad, err := ParseList(strings.NewReader(strings.ReplaceAll(text, "7001", "0")), nil)
		if !errors.Is(err, ErrNoProxies) || len(bad.Skipped) != 2 || bad.Skipped[0].Line != lines[0] || bad.Skipped[1].Line != lines[1] {
			t.Errorf("%q with bad ports: %v, %v; want lines %v", text, bad.Skipped, err, lines)
		}
	}
	for _, text := range []string{a + "\n" + b[:20], a + "}", `{"data": [` + a + `]`, a + "\nx", `{"error": "bad key"}`, "{}"} {
		if list, err := ParseList(strings.NewReader(text), nil); err == nil {
			t.Errorf("%q: taken as %d proxies", text, len(list.Specs))
		}
	}
	specs, err := ParseLine("{session}-u:pw@127.0.0.1:7001", nil)
	if err != nil || len(specs) != 1 {
		t.Errorf("a template is no JSON: %v, %v", specs, err)
	}
}

// Of objects one a line a broken one cost all: the list was refused as malformed.
func TestBrokenLineAmongObjectsLostTheOthers(t *testing.T) {
	const a, b = `{"host":"192.0.2.1","port":80}`, `{"host":"192.0.2.2","port":80}`
	for text, bad := range map[string]int{
		a + "\nbroken\n" + b + "\n":                       2,
		"\n" + a + "\r\n\r\n" + b[:20] + "\r\n" + b:       4,
		a + "\n" + b + "\n" + `{"host":"h",` + "\n":       3,
		a + "\n" + b + "}\n" + b + "\n":                   2,
		a + "\n" + b + "\n[\"192.0.2.3:80\", x]\n\n":      3,
		a + "\n" + b + "," + "\n" + b + "\n":              2,
		a + "\n" + `{"host":"h","port":{"x"}}` + "\n" + b: 2,
	} {
		list := parseText(t, text)
		if addresses(list.Specs) != "192.0.2.1:80 192.0.2.2:80" || len(list.Skipped) != 1 || list.Skipped[0].Line != bad || list.Merged != 0 {
			t.Errorf("%q: %s, skipped %v", text, addresses(list.Specs), list.Skipped)
		}
		if want := strings.TrimRight(text, "\n"); list.Unfinished != (want == text) {
			t.Errorf("%q: unfinished %v", text, list.Unfinished)
		}
	}
	for _, text := range []string{
		a + "\nbroken\n" + b[:20], a + "\n" + b + "\n" + b[:1], // half written
		"{\"data\": [\n" + a + "\n," + b + "\n", "[\n" + a + ",\nbroken,\n" + b + "\n]\n", // an array is whole or nothing
	} {
		if list, err := ParseList(strings.NewReader(text), nil); err == nil || errors.Is(err, ErrNoProxies) {
			t.Errorf("%q: %s, %v", text, addresses(list.Specs), err)
		}
	}
}
