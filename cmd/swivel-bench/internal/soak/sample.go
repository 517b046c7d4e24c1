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

	"swivel/cmd/swivel-bench/internal/load"
	"swivel/cmd/swivel-bench/internal/peer"
)

// Sample is what swivel holds at one instant, and what was done until then.
type Sample struct {
	At         time.Duration // since the load began
	RSS        int64         // bytes
	FDs        int
	Threads    int
	Goroutines int // -1 if it does not say
	Done       int64
	Failed     int64
	Skipped    int64
}

const sampleHead = "  time  RSS MiB  fds  threads  goroutines       done  failed  skipped\n"

func (s Sample) String() string {
	goroutines := "-"
	if s.Goroutines >= 0 {
		goroutines = strconv.Itoa(s.Goroutines)
	}
	return fmt.Sprintf("%6s  %7.1f  %3d  %7d  %10s  %9d  %6d  %7d\n", s.At.Round(time.Second), float64(s.RSS)/(1<<20), s.FDs, s.Threads, goroutines, s.Done, s.Failed, s.Skipped)
}

// take makes a sample, and keeps swivel's log short.
func take(ctx context.Context, r *peer.Running, tally *load.Tally, began time.Time) (Sample, error) {
	u, err := r.Usage()
	if err != nil {
		return Sample{}, err
	}
	s := Sample{At: time.Since(began), RSS: u.RSS, FDs: u.FDs, Threads: u.Threads,
		Done: tally.Done.Load(), Failed: tally.Failed.Load(), Skipped: tally.Skipped.Load()}
	if s.Goroutines, err = goroutines(ctx, "http://"+r.Admin+"/metrics"); err != nil {
		return Sample{}, err
	}
	return s, r.TrimLog(maxLog)
}

// asker keeps no connection, which would be one descriptor of what is counted.
var asker = http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// goroutines asks for the metrics; -1 if it is not among them.
func goroutines(ctx context.Context, url string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return -1, err
	}
	response, err := asker.Do(request)
	if err != nil {
		return -1, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return -1, nil
	}
	return parseGoroutines(response.Body)
}

func parseGoroutines(metrics io.Reader) (int, error) {
	for lines := bufio.NewScanner(metrics); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "go_goroutines "); ok {
			return strconv.Atoi(value)
		}
	}
	return -1, nil
}
