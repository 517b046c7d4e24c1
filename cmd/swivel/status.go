package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/sys/unix"

	"swivel/cmd/swivel/internal/admin"
	"swivel/cmd/swivel/internal/config"
	"swivel/pool/spelling"
)

type statusCmd struct {
	whom
	State    []string        `help:"Only proxies in these states: closed, open, half_open, paused, drained." enum:"closed,open,half_open,paused,drained" placeholder:"STATE,..."`
	Watch    bool            `short:"w" help:"Show it again and again, until Ctrl-C."`
	Interval config.Duration `help:"How often --watch shows it (default 2s)." default:"2s" placeholder:"DURATION"`
	Limit    int             `help:"How many proxies are listed; 0: all (default: as many as fit the terminal)." default:"-1" placeholder:"N"`
	Fleet    bool            `help:"Show how the daemon stands among those that it shares its knowledge with, in place of its pool."`
	JSON     bool            `name:"json" help:"Print JSON."`
}

// Run shows the pool once, or until a signal.
func (c *statusCmd) Run(s streams) error {
	d, err := c.daemon("status", s)
	if err != nil {
		return err
	}
	if !c.Watch {
		return c.show(d, s.out)
	}
	if c.Interval < config.Duration(100*time.Millisecond) {
		return usageError{fmt.Errorf("status: --interval: want 100ms or more")}
	}
	ctx, cancel := untilSignal()
	defer cancel()
	return c.watch(ctx, d, s.out)
}

// watch shows the pool until ctx ends. A daemon that does not answer may be
// about to be started again.
func (c *statusCmd) watch(ctx context.Context, d asked, out io.Writer) error {
	again := time.NewTicker(time.Duration(c.Interval))
	defer again.Stop()
	for {
		var b strings.Builder
		if width, _ := terminalSize(out); width > 0 {
			b.WriteString("\x1b[H\x1b[J") // from the top, and nothing below
		}
		if err := c.showSized(d, &b, out); err != nil {
			_, _ = fmt.Fprintln(&b, err)
		}
		if _, err := io.WriteString(out, b.String()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
		}
	}
}

func (c *statusCmd) show(d asked, out io.Writer) error { return c.showSized(d, out, out) }

// showSized writes to out what fits the terminal, if it is one.
func (c *statusCmd) showSized(d asked, out, terminal io.Writer) error {
	if c.Fleet {
		return c.showFleet(d, out)
	}
	var all []admin.Proxy
	if err := d.get("/api/v1/proxies", &all); err != nil {
		return err
	}
	chosen := slices.DeleteFunc(slices.Clone(all), func(p admin.Proxy) bool {
		return len(c.State) > 0 && !slices.Contains(c.State, p.Standing())
	})
	if c.JSON {
		return json.NewEncoder(out).Encode(chosen)
	}
	width, height := terminalSize(terminal)
	limit := c.Limit
	if limit < 0 {
		limit = max(1, height-6) // what stands around the list
	}
	if c.Limit == 0 || c.Limit < 0 && height == 0 {
		limit = len(chosen)
	}
	_, err := io.WriteString(out, fit(statusText(all, chosen, limit, time.Now()), width))
	return err
}

// statusText is the counts of all, and a table of those that are chosen.
func statusText(all, chosen []admin.Proxy, limit int, now time.Time) string {
	var b strings.Builder
	b.WriteString(countText(all) + "\n\n")
	states := admin.Standings()
	slices.SortStableFunc(chosen, func(p, q admin.Proxy) int {
		return slices.Index(states, p.Standing()) - slices.Index(states, q.Standing())
	})
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "PROXY\tID\tSTATE\tWEIGHT\tNOW\tIN FLIGHT\tSUCCESS\tLATENCY\tWHY")
	for _, p := range chosen[:min(limit, len(chosen))] {
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%.3g\t%.3g\t%d\t%s\t%s\t%s\n", p.Name, p.ID, p.Standing(), p.Weight, p.EffectiveWeight, p.InFlight,
			measured(p.SuccessRatio, 100, "%"), measured(p.LatencyMS, 1, "ms"), remark(p, now))
	}
	_ = t.Flush()
	if more := len(chosen) - limit; more > 0 {
		_, _ = fmt.Fprintf(&b, "... and %d more (--limit 0)\n", more)
	}
	return b.String()
}

// measured is what was measured, if it was.
func measured(value *float64, times float64, unit string) string {
	if value == nil {
		return "-"
	}
	n := *value * times
	if n > 0 && n < 10 {
		return fmt.Sprintf("%.1f%s", n, unit)
	}
	return fmt.Sprintf("%.0f%s", n, unit)
}

func countText(all []admin.Proxy) string {
	counts, inFlight := map[string]int{}, 0
	for _, p := range all {
		counts[p.Standing()]++
		inFlight += p.InFlight
	}
	var parts []string
	for _, state := range admin.Standings() {
		if counts[state] > 0 || state == "closed" {
			parts = append(parts, fmt.Sprintf("%d %s", counts[state], state))
		}
	}
	slices.Reverse(parts)
	return fmt.Sprintf("%s: %s; %d in flight", spelling.Counted(len(all), "proxy", "proxies"), strings.Join(parts, ", "), inFlight)
}

// remark says why a proxy is in its state, and until when.
func remark(p admin.Proxy, now time.Time) string {
	switch {
	case p.PauseReason != "" && p.PausedBy != "":
		return p.PauseReason + ", says " + p.PausedBy
	case p.PauseReason != "":
		return p.PauseReason
	case p.Standing() == "drained":
		return "weight=0 in its list"
	case p.NextTestTime == nil && p.Overdue:
		return "overdue: its last requests have no answer yet"
	case p.NextTestTime == nil:
		return ""
	}
	left := *p.NextTestTime - float64(now.UnixMilli())/1000
	if left <= 0 {
		return p.Cause + ", due for a test"
	}
	return p.Cause + ", for another " + span(left)
}

// terminalSize is 0, 0 unless w is a terminal.
func terminalSize(w io.Writer) (width, height int) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return int(size.Col), int(size.Row)
}

// fit cuts lines that are too long; 0: none are.
func fit(text string, width int) string {
	if width <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		bare := []rune(strings.TrimSuffix(line, "\n"))
		if len(bare) > width {
			bare = append(bare[:width-1], '…')
		}
		b.WriteString(string(bare) + "\n")
	}
	return b.String()
}
