package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"swivel/cmd/swivel/internal/admin"
	"swivel/pool/spelling"
)

func (c *statusCmd) showFleet(d asked, out io.Writer) error {
	var f admin.Fleet
	if err := d.get("/api/v1/fleet", &f); err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(out).Encode(f)
	}
	_, err := io.WriteString(out, fleetText(f, time.Now()))
	return err
}

// fleetText is what there is to say of a fleet.
func fleetText(f admin.Fleet, now time.Time) string {
	if !f.Enabled {
		return "this daemon belongs to no fleet (serve --fleet)\n"
	}
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(what, format string, args ...any) {
		_, _ = fmt.Fprintf(t, what+"\t"+format+"\n", args...)
	}
	line("server", "%s", serverText(f, now))
	if f.Problem != "" {
		line("", "%s", f.Problem)
	}
	line("instances", "%d seen by the server in the last five seconds", f.Instances)
	line("clock", "%s", clockText(f.BehindS))
	line("leases", "%s may be tested from here", spelling.Counted(f.Leases, "resting proxy", "resting proxies"))
	line("to be told", "%d, for %.1fs", f.Pending, f.LagS)
	line("so far", "told of proxies %s, learnt %s, %s, %d failed",
		times(f.Told), times(f.Learnt), spelling.Counted(int(f.Calls), "call", "calls"), f.FailedCalls)
	_ = t.Flush()
	return b.String()
}

func times(n uint64) string { return spelling.Counted(int(n), "time", "times") }

func serverText(f admin.Fleet, now time.Time) string {
	switch {
	case f.Up:
		return fmt.Sprintf("up, answers in %.1fms", f.CallMS)
	case f.Answered == 0:
		return "down since the start; this instance works on its own"
	}
	silent := "down, silent for " + span(float64(now.UnixMilli())/1000-f.Answered)
	if f.Alone {
		silent += "; this instance works on its own"
	}
	return silent
}

// clockText says nothing of what calls to the server cannot tell.
func clockText(behind float64) string {
	switch {
	case behind > 0.1:
		return fmt.Sprintf("%.1fs behind the server's", behind)
	case behind < -0.1:
		return fmt.Sprintf("%.1fs ahead of the server's", -behind)
	}
	return "as the server's"
}
