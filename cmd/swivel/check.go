package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"swivel/cmd/swivel/internal/config"
	"swivel/cmd/swivel/internal/daemon"
	"swivel/cmd/swivel/internal/tryout"
	"swivel/pool"
	"swivel/pool/spelling"
)

type checkCmd struct {
	Lists       []string        `arg:"" optional:"" name:"list" help:"Proxy lists: files, URLs, or - for standard input (default: those of the configuration)." placeholder:"FILE|URL|-"`
	Target      string          `short:"t" help:"What is asked for through each proxy: an https or http URL, or HOST:PORT if it is enough that a tunnel opens (default https://example.com/). If it answers with the caller's address, as https://api.ipify.org/ does, that is shown." default:"https://example.com/" placeholder:"URL"`
	Concurrency int             `short:"n" help:"How many proxies are tried at once (default 100)." default:"100" placeholder:"N"`
	Timeout     config.Duration `help:"What a proxy gets, all in all (default 10s)." default:"10s" placeholder:"DURATION"`
	Output      string          `short:"o" help:"text, json, csv, or list: a list of those alive, with their passwords and the protocols that they speak." enum:"text,json,csv,list" default:"text" placeholder:"FORMAT"`
	All         bool            `help:"With text: show the dead ones, too."`
	Config      string          `help:"Configuration file (YAML)." type:"configfile" placeholder:"FILE" env:"SWIVEL_CONFIG"`
}

// Help says what the exit code means.
func (checkCmd) Help() string {
	return "Exits with 0 if at least one proxy is alive, 1 if none is, 2 if there is nothing to try. Ctrl-C ends it with what is known."
}

// maxConcurrency is more than descriptors usually suffice for: a proxy that is
// tried with all protocols takes four.
const maxConcurrency = 10_000

// Run tries every proxy.
func (c *checkCmd) Run(s streams) error {
	target, err := tryout.ParseTarget(c.Target)
	if err != nil {
		err = fmt.Errorf("check: --target: %w", err)
	}
	if c.Concurrency < 1 || c.Concurrency > maxConcurrency {
		err = errors.Join(err, fmt.Errorf("check: --concurrency: want 1 to %d", maxConcurrency))
	}
	if c.Timeout <= 0 {
		err = errors.Join(err, errors.New("check: --timeout: want a duration such as 10s"))
	}
	lists, listErr := c.read(s)
	if err := errors.Join(err, listErr); err != nil {
		return usageError{err}
	}
	if len(lists.Skipped) > 0 {
		_, _ = fmt.Fprintf(s.errOut, "swivel: %s skipped: %s\n", spelling.Counted(len(lists.Skipped), "line", "lines"), lists.Summary())
	}
	ctx, cancel := untilSignal()
	defer cancel()
	checker := tryout.Checker{Target: target, Timeout: time.Duration(c.Timeout), Concurrency: c.Concurrency}
	return c.try(ctx, checker, lists.Specs, s)
}

// read reads the lists that were named, or those of the configuration.
func (c *checkCmd) read(s streams) (daemon.Lists, error) {
	cfg, err := config.Load(config.Default(), c.Config, s.env)
	if err != nil {
		return daemon.Lists{}, err
	}
	sources := c.Lists
	if len(sources) == 0 {
		sources = cfg.Proxies
	}
	if !slices.Contains(sources, "-") {
		return daemon.ReadLists(sources, cfg.BreakerSettings())
	}
	if len(sources) > 1 {
		return daemon.Lists{}, errors.New("check: want either - or other lists, not both")
	}
	list, err := pool.ParseList(s.in, s.env)
	if err != nil {
		return daemon.Lists{}, fmt.Errorf("check: standard input: %w", err)
	}
	lists := daemon.Lists{Specs: list.Specs, Merged: list.Merged}
	for _, skipped := range list.Skipped {
		lists.Skipped = append(lists.Skipped, daemon.SkippedLine{File: "standard input", LineError: skipped})
	}
	return lists, nil
}

// try tries the proxies until ctx ends, and writes what is known then.
func (c *checkCmd) try(ctx context.Context, checker tryout.Checker, specs []*pool.Spec, s streams) error {
	results := make([]tryout.Result, 0, len(specs))
	alive := 0
	bar := newProgress(s.errOut, len(specs))
	checker.Run(ctx, specs, func(r tryout.Result) {
		results = append(results, r)
		if r.Alive {
			alive++
		}
		bar.show(len(results), alive, time.Now())
	})
	bar.clear()
	slices.SortFunc(results, func(a, b tryout.Result) int { return a.Index - b.Index })
	if err := c.write(s.out, results); err != nil {
		return err
	}
	if left := len(specs) - len(results); left > 0 {
		_, _ = fmt.Fprintf(s.errOut, "swivel: check: ended early: %d of %d were not tried\n", left, len(specs))
	}
	if alive == 0 {
		return errors.New("check: no proxy is alive")
	}
	return nil
}

// progress is a bar on a terminal, and nothing elsewhere.
type progress struct {
	out   io.Writer
	width int // of the terminal; 0: there is none
	of    int
	shown time.Time
}

// progressEvery is how often the bar moves.
const progressEvery = 100 * time.Millisecond

func newProgress(out io.Writer, of int) *progress {
	width, _ := terminalSize(out)
	return &progress{out: out, width: width, of: of}
}

func (p *progress) show(done, alive int, now time.Time) {
	if p.width == 0 || now.Sub(p.shown) < progressEvery && done < p.of {
		return
	}
	p.shown = now
	_, _ = io.WriteString(p.out, "\r\x1b[K"+progressLine(done, p.of, alive, p.width))
}

func (p *progress) clear() {
	if p.width > 0 {
		_, _ = io.WriteString(p.out, "\r\x1b[K")
	}
}

// progressLine is a bar as wide as the terminal lets it, 40 at most.
func progressLine(done, of, alive, width int) string {
	text := fmt.Sprintf(" %d of %d tried, %d alive", done, of, alive)
	room := min(40, width-len(text)-3)
	if room < 5 {
		return text[1:]
	}
	bar := make([]byte, room)
	for i := range bar {
		if bar[i] = '.'; i < room*done/max(1, of) {
			bar[i] = '#'
		}
	}
	return "[" + string(bar) + "]" + text
}
