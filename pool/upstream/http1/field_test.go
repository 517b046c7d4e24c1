package http1

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFieldsAreFoundInAnyCase(t *testing.T) {
	f := Fields{{"A", "1"}, {"set-cookie", "x"}, {"a", "2"}, {"SET-COOKIE", "y"}, {"Empty", ""}, {"\u212aelvin", "3"}}
	for name, want := range map[string]string{"a": "1", "Set-Cookie": "x", "Empty": "", "B": "", "": "", "Kelvin": ""} {
		if got := f.Get(name); got != want {
			t.Errorf("Get(%q) = %q", name, got)
		}
	}
	for name, want := range map[string]int{"a": 2, "Set-Cookie": 2, "Empty": 1, "B": 0, "": 0, "Kelvin": 0} {
		if got := f.Count(name); got != want {
			t.Errorf("Count(%q) = %d", name, got)
		}
	}
}

func TestHasToken(t *testing.T) {
	f := Fields{{"Connection", "keep-alive,\tX-A , ,"}, {"connection", "Close"}, {"Other", "z"}}
	for token, want := range map[string]bool{
		"keep-alive": true, "KEEP-ALIVE": true, "x-a": true, "close": true,
		"keep": false, "alive": false, "z": false, "X-A ": false, "X": false,
	} {
		if got := f.HasToken("Connection", token); got != want {
			t.Errorf("%q: %v", token, got)
		}
	}
	for _, list := range []string{"\u212aeep-alive", "\"keep-alive\"", "keep-alive;x", "keep-alive x", ""} {
		if (Fields{{"Connection", list}}).HasToken("Connection", "keep-alive") {
			t.Errorf("%q holds keep-alive", list)
		}
	}
}

func TestFieldsOfOneConnectionAreNotPassedOn(t *testing.T) {
	length := Framing{Kind: Length, Length: 5}
	end := Field{"X-End", "1"}
	for _, c := range []struct {
		why     string
		framing Framing
		in      Fields
		want    Fields
	}{
		{"hop by hop", Framing{}, Fields{
			{"Connection", "close"}, {"KEEP-ALIVE", "timeout=5"}, {"Proxy-Connection", "keep-alive"}, {"te", "gzip"}, end,
			{"Upgrade", "h2c"}, {"Proxy-Authorization", "x"}, {"Proxy-Authenticate", "x"}, {"Proxy-Authentication-Info", "x"},
		}, Fields{end}},
		{"much like them", Framing{}, Fields{{"Tea", "x"}, {"Connection2", "x"}, {"Upgrade-Insecure-Requests", "1"}, {"Proxy-Status", "x"}, {"Trailer", "x"}},
			Fields{{"Tea", "x"}, {"Connection2", "x"}, {"Upgrade-Insecure-Requests", "1"}, {"Proxy-Status", "x"}, {"Trailer", "x"}}},
		{"nominated", Framing{}, Fields{{"X-Hop", "1"}, {"Connection", "X-hop, close"}, end, {"x-hop", "2"}, {"X-Hop2", "3"}}, Fields{end, {"X-Hop2", "3"}}},
		{"nominated in several lines", Framing{}, Fields{{"Connection", "a"}, {"A", "1"}, {"B", "1"}, end, {"connection", ",\tb ,"}}, Fields{end}},
		{"nominated with junk", Framing{}, Fields{{"Connection", "a b, \"X-End\", c;d, \u212a"}, {"A", "1"}, {"k", "1"}, end}, Fields{{"A", "1"}, {"k", "1"}, end}},
		{"Host nominated", Framing{}, Fields{{"Connection", "Host, host"}, {"Host", "a"}}, Fields{{"Host", "a"}}},
		{"length nominated", length, Fields{{"Connection", "Content-Length"}, {"Content-Length", "5"}}, Fields{{"Content-Length", "5"}}},
		{"chunked nominated", Framing{Kind: Chunked}, Fields{{"Connection", "transfer-encoding"}, {"Transfer-Encoding", "chunked"}}, Fields{{"Transfer-Encoding", "chunked"}}},
		{"Connection nominated", Framing{}, Fields{{"Connection", "connection, keep-alive"}, end}, Fields{end}},

		{"order, spelling, duplicates", Framing{}, Fields{{"z", "1"}, {"Set-Cookie", "a"}, {"Host", "h"}, {"set-cookie", "b"}, {"A", "2"}, {"Set-Cookie", "a"}},
			Fields{{"z", "1"}, {"Set-Cookie", "a"}, {"Host", "h"}, {"set-cookie", "b"}, {"A", "2"}, {"Set-Cookie", "a"}}},

		{"two lengths", length, Fields{{"content-length", "5"}, end, {"Content-Length", "5"}}, Fields{{"content-length", "5"}, end}},
		{"list of lengths", length, Fields{{"Content-Length", "5 , 5"}}, Fields{{"Content-Length", "5"}}},
		{"length beside chunked", Framing{Kind: Chunked, Odd: true}, Fields{{"Content-Length", "5"}, end, {"transfer-encoding", "CHUNKED"}},
			Fields{end, {"transfer-encoding", "chunked"}}},
		{"chunked ends with the connection", Framing{Kind: UntilClose}, Fields{{"Transfer-Encoding", "chunked"}, end}, Fields{end}},
		{"length told", Framing{Told: true}, Fields{{"Content-Length", "123456"}}, Fields{{"Content-Length", "123456"}}},
		{"length and coding of no body", Framing{}, Fields{{"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}, end}, Fields{end}},
		{"nothing", Framing{}, nil, nil},
	} {
		if diff := cmp.Diff(c.want, c.in.EndToEnd(nil, c.framing)); diff != "" {
			t.Errorf("%s: %s", c.why, diff)
		}
	}
}

func TestFieldsThatSwitchProtocolsKeepPlaceAndSpelling(t *testing.T) {
	end := Field{"X-End", "1"}
	for _, c := range []struct {
		why      string
		in, want Fields
	}{
		{"as they are", Fields{{"connection", "keep-alive ,\tupgrade"}, end, {"UPGRADE", "WebSocket, foo"}, end},
			Fields{{"connection", "keep-alive ,\tupgrade"}, end, {"UPGRADE", "WebSocket, foo"}, end}},
		{"several lines", Fields{{"Connection", "close"}, end, {"Connection", "Upgrade"}, {"Upgrade", "a"}, {"Upgrade", "b"}},
			Fields{{"Connection", "close"}, end, {"Connection", "Upgrade"}, {"Upgrade", "a"}, {"Upgrade", "b"}}},
		{"other options", Fields{{"Connection", "x-hop,UPGRADE, TE,Keep-Alive, a b"}, {"X-Hop", "1"}, {"TE", "x"}, {"Keep-Alive", "timeout=5"}, end},
			Fields{{"Connection", "UPGRADE, Keep-Alive"}, end}},
		{"other options alone", Fields{{"Connection", "X-Hop"}, {"Connection", ""}, {"X-Hop", "1"}, {"Connection", "Upgrade"}},
			Fields{{"Connection", "Upgrade"}}},
	} {
		if diff := cmp.Diff(c.want, c.in.Switching(nil, Framing{})); diff != "" {
			t.Errorf("%s: %s", c.why, diff)
		}
	}
}

func TestEndToEndAppendsAndMayWorkInPlace(t *testing.T) {
	f := Fields{{"X-Hop", "1"}, {"Connection", "x-hop"}, {"A", "1"}}
	if got := f.EndToEnd(Fields{{"First", "0"}}, Framing{}); len(got) != 2 || got[0].Name != "First" || got[1].Name != "A" {
		t.Errorf("appended: %q", got)
	}
	if got := f.EndToEnd(f[:0], Framing{}); len(got) != 1 || got[0].Name != "A" {
		t.Errorf("in place: %q", got)
	}
}

func TestEndToEndCostsNoMemoryForUsualOptions(t *testing.T) {
	f := Fields{{"Host", "a"}, {"Connection", "Keep-Alive, Upgrade"}, {"connection", "close"}, {"Accept", "*/*"}}
	dst := make(Fields, 0, len(f))
	if n := testing.AllocsPerRun(100, func() { dst = f.EndToEnd(dst[:0], Framing{}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkManyNominations is a head made to be expensive: as many fields as
// there may be, and Connection lists that fill the rest.
func BenchmarkManyNominations(b *testing.B) {
	var f Fields
	for i := range MaxFields / 2 {
		f = append(f, Field{"Connection", strings.Repeat("a,", 60)}, Field{fmt.Sprintf("X-%d", i), ""})
	}
	dst := make(Fields, 0, len(f))
	for b.Loop() {
		dst = f.EndToEnd(dst[:0], Framing{})
	}
}
