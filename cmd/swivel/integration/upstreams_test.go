package integration

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"swivel/cmd/swivel/internal/swiveltest"
)

// TestUpstreams sends every client through every kind of upstream, one at a
// time and then through all of them as one pool.
func TestUpstreams(t *testing.T) {
	o := newOrigin(t)
	clients := fetchers(t)
	running := make([]peer, len(peers))
	for i, kind := range peers {
		running[i] = kind.start(t, o.ca)
	}
	for i, kind := range peers {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			d := startDaemon(t, swiveltest.Setup{Lines: []string{running[i].line}})
			for _, c := range clients {
				t.Run(c.name, func(t *testing.T) { checkClient(t, c, d, o, running[i].source) })
			}
		})
	}
	t.Run("all as one pool", func(t *testing.T) {
		t.Parallel()
		var lines, sources []string
		for _, p := range running {
			lines = append(lines, p.line)
			sources = append(sources, p.source)
		}
		d := startDaemon(t, swiveltest.Setup{Lines: lines})
		for _, c := range clients {
			t.Run(c.name, func(t *testing.T) {
				checkClient(t, c, d, o, sources...)
			})
		}
		t.Run("every upstream is used", func(t *testing.T) { checkSpread(t, d, o, sources) })
	})
}

// checkClient makes the client's requests, for http and https targets, and
// checks that they left from one of the sources.
func checkClient(t *testing.T, c fetcher, d daemon, o *origin, sources ...string) {
	proxy := "http://" + d.Listen
	upload := strings.Repeat("swivel ", 10_000)
	for _, base := range []string{o.http, o.https} {
		if source := strings.TrimSpace(c.fetch(t, o, proxy, base+"/ip", "")); !slices.Contains(sources, source) {
			t.Errorf("%s/ip was asked from %q, want one of %q", base, source, sources)
		}
		if got := c.fetch(t, o, proxy, base+"/bytes/300000", ""); len(got) != 300_000 {
			t.Errorf("%s: got %d bytes, want 300000", base, len(got))
		}
		if got := c.fetch(t, o, proxy, base+"/echo", upload); got != upload {
			t.Errorf("%s: %d bytes were sent, and %d others came back", base, len(upload), len(got))
		}
	}
}

// checkSpread makes 300 requests for each kind of target. With six proxies of
// one weight each carries 50; by chance fewer than 15 or more than 100 happen
// less than once in ten million runs.
func checkSpread(t *testing.T, d daemon, o *origin, sources []string) {
	for _, base := range []string{o.http, o.https} {
		count := countSources(t, d.browse(o), base, 300)
		for _, source := range sources {
			if n := count[source]; n < 15 || n > 100 {
				t.Errorf("%s: %s carried %d of 300 requests, want about 50", base, source, n)
			}
			delete(count, source)
		}
		if len(count) > 0 {
			t.Errorf("%s: requests came from addresses of no upstream: %v", base, count)
		}
	}
}

// countSources makes n requests, ten at a time, and returns how many left from
// each address.
func countSources(t *testing.T, client *http.Client, base string, n int) map[string]int {
	t.Helper()
	const workers = 10
	sources := make(chan string, n)
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for range n / workers {
				source, err := get(client, base+"/ip")
				if err != nil {
					t.Errorf("%s: %v", base, err)
				}
				sources <- strings.TrimSpace(source)
			}
		})
	}
	working.Wait()
	close(sources)
	count := map[string]int{}
	for source := range sources {
		count[source]++
	}
	return count
}
