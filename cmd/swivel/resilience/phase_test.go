package resilience

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"swivel/cmd/swivel/internal/swiveltest"
)

// phase is a time of the run with its figures.
type phase struct {
	name       string
	begin, end time.Time

	exchanges, good int             // with targets that are up
	took            []time.Duration // of the good ones, sorted
	attempts        int
	wasted, unused  int      // attempts that did not serve; of these, tunnels that were not used
	opened          []string // proxies whose breakers opened
	faults          []string // what clients ran into
}

func (p *phase) holds(at time.Time) bool { return !at.Before(p.begin) && at.Before(p.end) }

// measure fills in the figures. An exchange belongs to the phase in which it was
// due, an attempt to the one in which it was made.
func (p *phase) measure(samples []sample, visits []visit, changes []swiveltest.Line) {
	for _, s := range samples {
		if !p.holds(s.at) || s.target == deadTarget {
			continue
		}
		p.exchanges++
		if s.err != nil {
			p.faults = append(p.faults, s.String())
			continue
		}
		p.good++
		p.took = append(p.took, s.took)
	}
	slices.Sort(p.took)
	for _, v := range visits {
		if !p.holds(v.at) || v.target == deadTarget {
			continue
		}
		p.attempts++
		if v.fate != served {
			p.wasted++
		}
		if v.fate == unused {
			p.unused++
		}
	}
	for _, c := range changes {
		if p.holds(c.Time) && c.To == "open" {
			p.opened = append(p.opened, c.Name+" ("+c.Rule+")")
		}
	}
}

// success is the percentage of exchanges that were good.
func (p *phase) success() float64 { return percent(p.good, p.exchanges) }

// waste is how many attempts were wasted per 100 exchanges.
func (p *phase) waste() float64 { return percent(p.wasted, p.exchanges) }

func percent(part, all int) float64 { return 100 * float64(part) / float64(max(all, 1)) }

// quantile is how long the quickest q of the sorted took at most.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// table shows all phases.
func table(phases []*phase) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "phase\tseconds\texchanges\tsuccess %\tp50 ms\tp95 ms\tp99 ms\tmax ms\twasted/100\tof them extra handshakes/100\t")
	for _, p := range phases {
		fmt.Fprintf(w, "%s\t%.0f\t%d\t%.2f\t%s\t%s\t%s\t%s\t%.2f\t%.2f\t\n", p.name, p.end.Sub(p.begin).Seconds(), p.exchanges, p.success(),
			ms(quantile(p.took, .5)), ms(quantile(p.took, .95)), ms(quantile(p.took, .99)), ms(quantile(p.took, 1)),
			p.waste(), percent(p.unused, p.exchanges))
	}
	_ = w.Flush()
	return text.String()
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/float64(time.Millisecond)) }
