package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"swivel/cmd/swivel-bench/internal/load"
	"swivel/cmd/swivel-bench/internal/peer"
	"swivel/cmd/swivel-bench/internal/process"
	"swivel/cmd/swivel-bench/internal/soak"
)

// mixedCmd looks whether swivel grows.
type mixedCmd struct {
	Swivel string        `help:"The program to measure." default:"bin/swivel" placeholder:"FILE"`
	For    time.Duration `help:"How long (default 10m); the first minute does not count." default:"10m" placeholder:"DURATION"`
}

const (
	// samples is how many points the curve has.
	samples = 60
	// clientsAtOnce leaves room beyond what the load takes.
	clientsAtOnce = 1000
)

// Validate is called by kong.
func (c *mixedCmd) Validate() error {
	if c.For < time.Second || c.For > 7*24*time.Hour {
		return errors.New("--for: want 1s to 168h")
	}
	return nil
}

// Run measures what swivel can do, keeps it busy and prints the curve.
func (c *mixedCmd) Run(s surroundings) (err error) {
	b, err := newBench(c.Swivel)
	if err != nil {
		return err
	}
	defer b.close()
	setting := b.setting
	setting.Connections, setting.Admin = clientsAtOnce, true
	running, err := peer.Swivel("swivel", b.swivel, process.As{}).Start(s.ctx, setting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()
	_, _ = fmt.Fprintln(s.log, "measuring what it can do")
	capacity, err := soak.Capacity(s.ctx, running.Addr, min(c.For, 10*time.Second))
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(s.out, "%.0f times a second a plain request and a tunnel are possible; 80 %% of that for %s, with idle tunnels\n\n", capacity, c.For)
	plan := soak.Plan{Capacity: capacity, For: c.For, Every: c.For / samples}
	curve, tally, err := soak.Run(s.ctx, running, plan, s.out)
	if err != nil {
		return err
	}
	return verdict(s.out, soak.Growths(curve), tally)
}

// verdict says what grows and what failed.
func verdict(out io.Writer, growths []soak.Growth, tally *load.Tally) (err error) {
	if len(growths) == 0 {
		_, _ = fmt.Fprintln(out, "\ntoo short to say whether it grows after the first minute")
	} else {
		_, _ = fmt.Fprintln(out, "\nafter the first minute, medians of the first third and of the last:")
	}
	for _, g := range growths {
		word := "does not grow"
		if g.Grows {
			word = "GROWS"
			err = errors.Join(err, fmt.Errorf("%s grows", g.What))
		}
		_, _ = fmt.Fprintf(out, "  %-10s  %7.1f -> %7.1f  %s\n", g.What, g.First, g.Last, word)
	}
	if failed := tally.Failed.Load(); failed > 0 {
		err = errors.Join(err, fmt.Errorf("%d operations failed, the first: %w", failed, tally.First()))
	}
	return err
}
