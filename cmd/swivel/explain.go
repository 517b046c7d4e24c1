package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"swivel/cmd/swivel/internal/admin"
	"swivel/cmd/swivel/internal/config"
	"swivel/cmd/swivel/internal/daemon"
	"swivel/cmd/swivel/internal/eventlog"
	"swivel/pool"
	"swivel/pool/route"
)

type explainCmd struct {
	Target  string   `arg:"" help:"What would be asked for: host, host:port or a URL."`
	AsUser  string   `name:"user" help:"The proxy user name that the client would give, with its routing keys." placeholder:"USER"`
	Limit   int      `help:"How many proxies are listed (default 20)." default:"20" placeholder:"N"`
	JSON    bool     `name:"json" help:"Print JSON."`
	Config  string   `help:"Configuration file (YAML)." type:"configfile" placeholder:"FILE" env:"SWIVEL_CONFIG"`
	Admin   *string  `help:"Admin API of the daemon to ask (default 127.0.0.1:8485)." placeholder:"HOST:PORT"`
	Proxies []string `help:"Do not ask a daemon: say what one would do that started with this list now; may be repeated." placeholder:"LIST"`
	DB      *string  `name:"db" help:"With --proxies: the database that it would start with." placeholder:"FILE"`
}

// Run asks a running daemon, or looks at what one would start with.
func (c *explainCmd) Run(s streams) error {
	if strings.Contains(c.AsUser, ":") {
		return usageError{errors.New("explain: user: want the name alone, without the password behind the colon")}
	}
	flags := settings{Config: c.Config, Admin: c.Admin, DB: c.DB}
	lists := serveCmd{Proxies: c.Proxies}
	cfg, err := flags.load(s, config.Default(), lists.lists)
	if err != nil {
		return err
	}
	ask := c.askDaemon
	if len(c.Proxies) > 0 {
		ask = c.lookOffline
	}
	e, err := ask(cfg)
	if err != nil {
		return err
	}
	if c.JSON {
		encoder := json.NewEncoder(s.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(e)
	}
	return c.print(s.out, e)
}

func (c *explainCmd) askDaemon(cfg config.Config) (e admin.Explanation, err error) {
	d, err := daemonOf(cfg, "explain")
	if err != nil {
		return e, err
	}
	query := url.Values{"target": {c.Target}, "user": {c.AsUser}, "limit": {strconv.Itoa(c.Limit)}}
	return e, d.get("/api/v1/explain?"+query.Encode(), &e)
}

func (c *explainCmd) lookOffline(cfg config.Config) (e admin.Explanation, err error) {
	target, err := route.Target(c.Target)
	if err != nil {
		return e, usageError{fmt.Errorf("explain: target: %w", err)}
	}
	quiet, err := eventlog.New(io.Discard, "json", "error")
	if err != nil {
		return e, err
	}
	d, err := daemon.Offline(context.Background(), cfg, quiet)
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	name, keys, err := d.ParseUser(c.AsUser)
	if err != nil {
		return e, usageError{fmt.Errorf("explain: user: %w", err)}
	}
	e = admin.Explain(d.Pool(), pool.Request{Target: target, Client: name, Route: keys}, c.Limit, time.Now())
	e.Refused = d.Refused(target)
	return e, nil
}

// print is the explanation for people.
func (c *explainCmd) print(out io.Writer, e admin.Explanation) error {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "%s", e.Target)
	if e.Route != "" {
		_, _ = fmt.Fprintf(&b, " with %s", e.Route)
	} else if c.AsUser != "" {
		b.WriteString("; the user name holds no routing key")
	}
	b.WriteString("\n\n")
	if e.Refused != "" {
		_, _ = fmt.Fprintf(&b, "Clients do not get this target: %s. Otherwise:\n\n", e.Refused)
	}
	if e.TargetRest > 0 {
		_, _ = fmt.Fprintf(&b, "The target is down, and is left alone for another %s: 502 at once.\n\n", span(e.TargetRest))
	}
	if e.LocalOutage {
		b.WriteString("All proxies failed at once, which looks like this machine's network: one request a second tries.\n\n")
	}
	c.table(&b, e)
	if more := total(e.Counts) - len(e.Proxies); more > 0 {
		_, _ = fmt.Fprintf(&b, "... and %d more (--limit)\n", more)
	}
	b.WriteString("\n" + summary(e) + "\n")
	_, err := io.WriteString(out, b.String())
	return err
}

func (c *explainCmd) table(b *strings.Builder, e admin.Explanation) {
	t := tabwriter.NewWriter(b, 0, 0, 3, ' ', 0)
	_, _ = fmt.Fprintln(t, "PROXY\tID\tWEIGHT\tSHARE\tWHY NOT")
	for _, p := range e.Proxies {
		weight, share := fmt.Sprintf("%.3g", p.Weight), fmt.Sprintf("%.1f %%", 100*p.Share)
		if p.Skip != pool.InUse.String() {
			weight, share = "-", "-"
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", p.Name, p.ID, weight, share, whyNot(p, e.SessionProxy))
	}
	_ = t.Flush()
}

// whyNot says in words why a proxy is not used.
func whyNot(p admin.Chance, session string) string {
	if p.Skip == pool.InUse.String() {
		switch {
		case p.ID == session:
			return "the session's own"
		case p.Weight == 0:
			return "the session has another one"
		}
		return ""
	}
	text := p.Skip
	if p.Cause != "" {
		text += " (" + p.Cause + ")"
	}
	switch {
	case len(p.Misses) > 0:
		text += ": " + strings.Join(p.Misses, ", ")
	case p.After > 0:
		text += ", for another " + span(p.After)
	case p.Skip == pool.Open.String():
		text += ", due for a test"
	}
	return text
}

func summary(e admin.Explanation) string {
	in := e.Counts[pool.InUse.String()]
	text := fmt.Sprintf("%d of %d may be picked", in, total(e.Counts))
	switch {
	case in > 0:
	case len(e.Lacking) > 0:
		text += ", since no proxy of the list meets " + strings.Join(e.Lacking, ", ")
	case e.Stuck:
		text += ", until one is resumed or the list changes"
	case e.Counts[pool.Full.String()] > 0:
		text += ", until one has room"
	case e.RetryAfter > 0:
		text += ", the first in " + span(e.RetryAfter)
	}
	var why []string
	for skip, n := range e.Counts {
		if skip != pool.InUse.String() {
			why = append(why, fmt.Sprintf("%s %d", skip, n))
		}
	}
	slices.Sort(why)
	if len(why) > 0 {
		text += "; passed over: " + strings.Join(why, ", ")
	}
	return text + "."
}

func total(counts map[string]int) (n int) {
	for _, one := range counts {
		n += one
	}
	return n
}

// span is a number of seconds for people.
func span(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
