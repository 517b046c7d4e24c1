package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"swivel/cmd/swivel-bench/internal/peer"
	"swivel/cmd/swivel-bench/internal/process"
	"swivel/cmd/swivel-bench/internal/rounds"
)

// peersCmd compares swivel with others.
type peersCmd struct {
	Swivel   string   `help:"The program to measure." default:"bin/swivel" placeholder:"FILE"`
	Rounds   int      `help:"How often each proxy is measured (default 5)." default:"5" placeholder:"N"`
	Scale    float64  `help:"How much load there is in a round, as a share of the usual amount (default 1)." default:"1" placeholder:"X"`
	Workload []string `help:"tunnel, plain, bulk, bulk-many or idle; may be repeated. Without any, all are." placeholder:"NAME"`
	Alone    bool     `help:"Measure swivel only."`
}

// Validate is called by kong.
func (c *peersCmd) Validate() error {
	if c.Rounds < 1 || c.Rounds > 1000 {
		return errors.New("--rounds: want 1 to 1000")
	}
	if !(c.Scale > 0 && c.Scale <= 100) {
		return errors.New("--scale: want more than 0, and 100 at most")
	}
	for _, name := range c.Workload {
		if !slices.ContainsFunc(rounds.Workloads(rounds.Amounts{}), func(w rounds.Workload) bool { return w.Name == name }) {
			return fmt.Errorf("--workload: there is no %q", name)
		}
	}
	return nil
}

// Run measures and prints a table for each workload.
func (c *peersCmd) Run(s surroundings) error {
	b, err := newBench(c.Swivel)
	if err != nil {
		return err
	}
	defer b.close()
	comparison := rounds.Bench{Rounds: c.Rounds, Setting: b.setting, Log: s.log}
	comparison.Kinds = []peer.Kind{peer.Swivel("swivel", b.swivel, process.As{})}
	as, ok := nobody()
	if ok {
		other := peer.Swivel("swivel as nobody", b.swivel, as)
		comparison.Other = &other
	}
	var missing []string
	if !c.Alone {
		installed, missed := find(peer.Others(as))
		comparison.Kinds, missing = append(comparison.Kinds, installed...), missed
	}
	say(s.log, missing)
	results, err := c.measure(s, &comparison)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(s.out, "%s\n\n", c.conditions(comparison.Kinds))
	failed := false
	for _, r := range results {
		if err := r.Print(s.out); err != nil {
			return err
		}
		failed = failed || r.Failed()
	}
	say(s.out, missing)
	if failed {
		return errors.New("not everything could be measured, see above")
	}
	return nil
}

// measure runs the workloads that are asked for.
func (c *peersCmd) measure(s surroundings, b *rounds.Bench) (results []*rounds.Result, err error) {
	amount := func(usual int) int { return max(int(float64(usual)*c.Scale), 1) }
	for _, w := range rounds.Workloads(rounds.Amounts{
		Tunnels: amount(20_000), Plain: amount(40_000), Bulk: amount(4096),
		Idle: idleTunnels(amount(10_000), b.Setting.FDs),
	}) {
		if len(c.Workload) > 0 && !slices.Contains(c.Workload, w.Name) {
			continue
		}
		result, err := b.Run(s.ctx, w)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

// find separates what is installed from what is not, which is said in words.
func find(kinds []peer.Kind) (installed []peer.Kind, missing []string) {
	for _, k := range kinds {
		if _, err := k.Find(); err != nil {
			missing = append(missing, fmt.Sprintf("%s: %v", k.Name, err))
			continue
		}
		installed = append(installed, k)
	}
	return installed, missing
}

func say(w io.Writer, missing []string) {
	for _, m := range missing {
		_, _ = fmt.Fprintf(w, "not compared with %s\n", m)
	}
}

// conditions says what is measured, where and how often.
func (c *peersCmd) conditions(kinds []peer.Kind) string {
	versions := make([]string, 0, len(kinds))
	for _, k := range kinds {
		if v := k.Version(); !slices.Contains(versions, v) {
			versions = append(versions, v)
		}
	}
	return fmt.Sprintf("%s; %d processors; medians of %d rounds, ratios with their least and greatest", strings.Join(versions, "; "), runtime.NumCPU(), c.Rounds)
}
