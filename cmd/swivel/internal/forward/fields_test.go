package forward

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"swivel/pool/upstream/http1"
)

// lines parses "Name: value" lines, as they came.
func lines(text string) http1.Fields {
	fields := http1.Fields{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		fields = append(fields, http1.Field{Name: name, Value: value})
	}
	return fields
}

func TestHeaderMapHoldsEveryValueInOrder(t *testing.T) {
	got := toHeader(lines("x-b: 1\nSet-Cookie: a\nX-A: 2\nset-cookie: b\nSET-COOKIE: c\nSet-Cookie: \n"))
	want := http.Header{"X-B": {"1"}, "Set-Cookie": {"a", "b", "c", ""}, "X-A": {"2"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

// The values lie in one array: adding to one field must not write over another.
func TestAddingToAHeaderLeavesItsNeighboursAlone(t *testing.T) {
	h := toHeader(lines("A: 1\nB: 2\nC: 3\n"))
	h.Add("A", "more")
	if h.Get("B") != "2" || h.Get("C") != "3" || len(h["A"]) != 2 {
		t.Errorf("got %v", h)
	}
}

func TestMergeKeepsTheFieldsAndFollowsTheHandlers(t *testing.T) {
	const fields = "x-b: 1\nSet-Cookie: a\nX-A: 2\nset-cookie: b\n"
	for name, x := range map[string]struct {
		change func(http.Header)
		want   string
	}{
		"nothing":         {func(http.Header) {}, fields},
		"delete":          {func(h http.Header) { h.Del("X-A") }, "x-b: 1\nSet-Cookie: a\nset-cookie: b\n"},
		"delete several":  {func(h http.Header) { h.Del("Set-Cookie") }, "x-b: 1\nX-A: 2\n"},
		"change":          {func(h http.Header) { h.Set("X-B", "9") }, "x-b: 9\nSet-Cookie: a\nX-A: 2\nset-cookie: b\n"},
		"change to one":   {func(h http.Header) { h.Set("Set-Cookie", "z") }, "x-b: 1\nSet-Cookie: z\nX-A: 2\n"},
		"add":             {func(h http.Header) { h.Set("X-New", "n") }, fields + "X-New: n\n"},
		"add another":     {func(h http.Header) { h.Add("Set-Cookie", "c") }, fields + "Set-Cookie: c\n"},
		"add in order":    {func(h http.Header) { h.Set("X-Z", "1"); h.Set("X-C", "2") }, fields + "X-C: 2\nX-Z: 1\n"},
		"swap":            {func(h http.Header) { h.Del("X-A"); h.Set("X-C", "2") }, "x-b: 1\nSet-Cookie: a\nset-cookie: b\nX-C: 2\n"},
		"delete all":      {func(h http.Header) { clear(h) }, ""},
		"a line break":    {func(h http.Header) { h.Set("X-New", "a\r\nX-Evil: 1") }, fields},
		"a break in name": {func(h http.Header) { h["X-New\r\nX-Evil"] = []string{"1"} }, fields},
		"a changed break": {func(h http.Header) { h.Set("X-A", "a\r\nX-Evil: 1") }, "x-b: 1\nSet-Cookie: a\nset-cookie: b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			h := toHeader(lines(fields))
			x.change(h)
			got := string(merge(lines(fields), h).Append(nil))
			if want := strings.ReplaceAll(x.want, "\n", "\r\n"); got != want {
				t.Errorf("got\n%q\nnot\n%q", got, want)
			}
		})
	}
}

// goproxy takes a message in hand in which it finds both.
func TestHandlersDoNotSeeWhatSwitchesProtocols(t *testing.T) {
	const fields = "connection: upgrade\nX-A: 1\nupgrade: WebSocket\n"
	h := toHeader(lines(fields))
	if want := (http.Header{"X-A": {"1"}}); !reflect.DeepEqual(h, want) {
		t.Errorf("a handler sees %v", h)
	}
	if got := merge(lines(fields), h); !reflect.DeepEqual(got, lines(fields)) {
		t.Errorf("untouched: %v", got)
	}
	h.Set("X-A", "2")
	if got := merge(lines(fields), h); !reflect.DeepEqual(got, lines(strings.Replace(fields, "1", "2", 1))) {
		t.Errorf("changed: %v", got)
	}
}

func TestHostFollowsTheTarget(t *testing.T) {
	for name, x := range map[string]struct{ fields, want string }{
		"missing":          {"A: 1\n", "Host: site.test\nA: 1\n"},
		"none at all":      {"", "Host: site.test\n"},
		"another":          {"A: 1\nhost: evil.test\nB: 2\n", "A: 1\nhost: site.test\nB: 2\n"},
		"meant for swivel": {"X-Swivel-Session: 1\nA: 1\nx-swivel-: 2\nHost: x\n", "A: 1\nHost: site.test\n"},
		"not quite for it": {"X-Swivel: 1\nX-Swivels-A: 1\nHost: x\n", "X-Swivel: 1\nX-Swivels-A: 1\nHost: site.test\n"},
		"an expectation":   {"Host: x\nExpect: 100-continue\n", "Host: site.test\nExpect: 100-continue\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := withHost(lines(x.fields), "site.test", 1)
			if want := lines(x.want); !reflect.DeepEqual(got, want) {
				t.Errorf("got %v", got)
			}
		})
	}
	if got := withHost(lines("Host: x\nexpect: 100-continue\nA: 1\n"), "site.test", 0); !reflect.DeepEqual(got, lines("Host: site.test\nA: 1\n")) {
		t.Errorf("of an HTTP/1.0 client: %v", got)
	}
}

func TestWebsocketTargetIsAskedAsHTTP(t *testing.T) {
	for target, want := range map[string]string{
		"ws://site.test/a": "http://site.test/a", "WS://site.test": "http://site.test",
		"http://ws://x": "http://ws://x", "HTTP://site.test/": "HTTP://site.test/", "ws:/": "ws:/",
	} {
		if got := absoluteForm(target); got != want {
			t.Errorf("%q became %q", target, got)
		}
	}
}
