package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"swivel/cmd/swivel-bench/internal/peer"
	"swivel/cmd/swivel-bench/internal/process"
	"swivel/cmd/swivel-bench/internal/soak"
)

// soakCmd looks whether swivel grows, and whether everything adds up.
type soakCmd struct {
	Swivel string        `help:"The program to measure." default:"bin/swivel" placeholder:"FILE"`
	For    time.Duration `help:"How long (default 10m); growth does not count in the first minute." default:"10m" placeholder:"DURATION"`
	Rate   int           `help:"Exchanges begun in a second (default 300)." default:"300" placeholder:"N"`
}

const (
	// samples is how many points the curve has.
	samples = 60
	// longTunnels are open beside the rest.
	longTunnels = 200
	// clientsAtOnce leaves room beyond what the load takes.
	clientsAtOnce = 2000
	// moodsLast and listsLast are for how long an upstream and the list stay as
	// they are.
	moodsLast = 4 * time.Second
	listsLast = 7 * time.Second
)

// Validate is called by kong.
func (c *soakCmd) Validate() error {
	if c.For < time.Second || c.For > 7*24*time.Hour {
		return errors.New("--for: want 1s to 168h")
	}
	if c.Rate < 1 || c.Rate > 100_000 {
		return errors.New("--rate: want 1 to 100000")
	}
	return nil
}

// Run keeps swivel busy and prints the curve.
func (c *soakCmd) Run(s surroundings) (err error) {
	b, err := newBench(c.Swivel)
	if err != nil {
		return err
	}
	defer b.close()
	plan := soak.Plan{Rate: c.Rate, Long: longTunnels, For: c.For, Every: c.For / samples, Moods: moodsLast, Lists: listsLast}
	list := filepath.Join(b.dir, "proxies.txt")
	run, err := soak.New(plan, list)
	if err != nil {
		return err
	}
	defer run.Close()
	setting := b.setting
	setting.Connections, setting.Admin, setting.List, setting.Env = clientsAtOnce, true, list, soak.Env
	running, err := peer.Swivel("swivel", b.swivel, process.As{}).Start(s.ctx, setting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()
	watch, err := soak.NewWatch(running.LogFile())
	if err != nil {
		return err
	}
	defer watch.Close()
	_, _ = fmt.Fprintf(s.out, "%d exchanges a second and %d long tunnels for %s\n\n", c.Rate, longTunnels, c.For)
	curve, err := run.Do(s.ctx, running, watch, s.out)
	if err != nil {
		return err
	}
	return errors.Join(run.Account(s.ctx, running, watch, s.out), verdict(s.out, soak.Growths(curve), run.Tally.Totals().Skipped))
}

// verdict says what grows. A machine that falls behind has peaks, and what they
// took may stay with the process: then growth says little.
func verdict(out io.Writer, growths []soak.Growth, skipped int64) (err error) {
	if len(growths) == 0 {
		_, _ = fmt.Fprintln(out, "\ntoo short to say whether it grows after the first minute")
	} else {
		_, _ = fmt.Fprintln(out, "\nafter the first minute, the first third and the last (medians; of the heap the least):")
	}
	for _, g := range growths {
		word := "does not grow"
		if g.Grows {
			word = "GROWS"
			err = errors.Join(err, fmt.Errorf("%s grows", g.What))
		}
		_, _ = fmt.Fprintf(out, "  %-10s  %7.1f -> %7.1f  %s\n", g.What, g.First, g.Last, word)
	}
	if err != nil && skipped > 0 {
		err = errors.Join(err, fmt.Errorf("but the machine fell behind and left out %d exchanges: run it again on one that does not", skipped))
	}
	return err
}
