package soak

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"swivel/cmd/swivel-bench/internal/peer"
)

// Sample is what swivel holds at one instant, and what was done until then.
type Sample struct {
	At         time.Duration // since the load began
	RSS        int64         // bytes
	Heap       int64         // bytes, of which some may be garbage
	FDs        int
	Threads    int
	Goroutines int
	Totals
}

const sampleHead = "  time  RSS MiB   fds  threads  goroutines     opened       good  refused  harmed  skipped  unexplained\n"

func (s Sample) String() string {
	return fmt.Sprintf("%6s  %7.1f  %4d  %7d  %10d  %9d  %9d  %7d  %6d  %7d  %11d\n", s.At.Round(time.Second), float64(s.RSS)/(1<<20), s.FDs, s.Threads,
		s.Goroutines, s.Opened, s.Good, s.Refused, s.Harmed, s.Skipped, s.Unexplained)
}

func take(ctx context.Context, p *peer.Running, tally *Tally, began time.Time) (Sample, error) {
	u, err := p.Usage()
	if err != nil {
		return Sample{}, err
	}
	m, err := scrape(ctx, "http://"+p.Admin+"/metrics")
	return Sample{At: time.Since(began), RSS: u.RSS, Heap: int64(m.heap), FDs: u.FDs, Threads: u.Threads, Goroutines: int(m.goroutines), Totals: tally.Totals()}, err
}

// metrics are those of swivel's that are looked at.
type metrics struct {
	goroutines, heap, inFlight, connections, pending, dropped float64
	exchanges                                                 map[string]int64 // by kind
}

// asker keeps no connection, which would be one descriptor of what is counted.
var asker = http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func scrape(ctx context.Context, url string) (metrics, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return metrics{}, err
	}
	response, err := asker.Do(request)
	if err != nil {
		return metrics{}, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return metrics{}, fmt.Errorf("metrics: %s", response.Status)
	}
	return parseMetrics(response.Body)
}

// parseMetrics reads the text format of Prometheus, as far as swivel uses it.
func parseMetrics(text io.Reader) (m metrics, err error) {
	m.exchanges = map[string]int64{}
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		name, number, found := strings.Cut(lines.Text(), " ")
		if !found || strings.HasPrefix(name, "#") {
			continue
		}
		// A label may hold a blank, but none of those that are looked at does.
		value, err := strconv.ParseFloat(number, 64)
		if err != nil {
			continue
		}
		switch name, labels, _ := strings.Cut(name, "{"); name {
		case "go_goroutines":
			m.goroutines = value
		case "go_memstats_heap_alloc_bytes":
			m.heap = value
		case "swivel_in_flight_attempts":
			m.inFlight = value
		case "swivel_connections":
			m.connections = value
		case "swivel_journal_pending_records":
			m.pending = value
		case "swivel_journal_dropped_records_total":
			m.dropped = value
		case "swivel_exchanges_total":
			_, kind, _ := strings.Cut(labels, `kind="`)
			kind, _, _ = strings.Cut(kind, `"`)
			m.exchanges[kind] += int64(value)
		}
	}
	return m, lines.Err()
}

// post asks swivel's admin API for a change.
func post(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := asker.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		return fmt.Errorf("%s: %s", response.Status, text)
	}
	return nil
}
