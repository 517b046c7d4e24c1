package upstream

import (
	"strings"
	"sync"
	"testing"

	"swivel/pool"
)

// TestPlainRequestThatMayHaveComeRoundSaysSo: as long as one like it has no answer.
// Of all others nobody learns that they have passed a swivel.
func TestPlainRequestThatMayHaveComeRoundSaysSo(t *testing.T) {
	const once, more = "http://site.test/once", "http://site.test/more"
	arrived, answer := make(chan string, 10), make(chan struct{})
	p := proxyPlain(t, nil, func(v *visit) {
		for v.head() {
			arrived <- v.last
			if strings.Contains(v.last, "Held:") {
				<-answer
			}
			v.answer()
		}
	})
	ts := transports(t)
	tr := ts.For(members(specFor(pool.HTTP, p.addr, "user1:pw"))[0])
	ask := func(absolute string, hops int, held bool) {
		r := asking("GET")
		r.Absolute, r.Hops = absolute, hops
		if held {
			r.Fields = append(r.Fields, r.Fields[0])
			r.Fields[1].Name = "Held"
		}
		fetch(t, tr, r)
	}
	wants := func(hops string) {
		t.Helper()
		_, rest, marked := strings.Cut(<-arrived, "Connection: X-Swivel-Hops\r\nX-Swivel-Hops: ")
		if got, _, _ := strings.Cut(rest, "\r"); got != hops || marked != (hops != "") {
			t.Errorf("it says that it has passed %q swivels, want %q", got, hops)
		}
	}
	var waiting sync.WaitGroup
	waiting.Go(func() { ask(once, 0, true) })
	wants("")
	waiting.Go(func() { ask(once, 0, true) }) // whose turn it would be in a loop
	wants("1")
	ask(more, 0, false)
	wants("")
	ask(more, 2, false)
	wants("3")
	close(answer)
	waiting.Wait()
	ask(once, 0, true)
	wants("")
	if n := len(ts.echoes.away); n != 0 {
		t.Errorf("%d requests are thought to be on their way", n)
	}
}

func TestRequestWithoutAnAnswerIsOver(t *testing.T) {
	p := proxyPlain(t, nil, func(v *visit) { v.head() })
	ts := transports(t)
	tr := ts.For(members(specFor(pool.HTTP, p.addr, ""))[0])
	if err := failure(t, tr, asking("GET")); !err.Sent {
		t.Errorf("%v", err)
	}
	if n := len(ts.echoes.away); n != 0 {
		t.Errorf("%d requests are thought to be on their way", n)
	}
}
