package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"swivel/cmd/swivel/internal/admin"
	"swivel/cmd/swivel/internal/config"
	"swivel/pool/spelling"
)

// chosen are the flags of commands that do something to proxies.
type chosen struct {
	whom
	Proxy []string `arg:"" help:"An id, a name, or tag:TAG." placeholder:"ID|NAME|tag:TAG"`
	By    string   `help:"Who wants it, for the audit log (default: you)." placeholder:"NAME"`
}

// reason is what people want to know of a proxy that is put aside.
type reason struct {
	Reason string `required:"" short:"r" help:"Why, in one line, for whoever looks at it next." placeholder:"TEXT"`
}

type pauseCmd struct {
	chosen
	reason
}

// Run pauses.
func (c *pauseCmd) Run(s streams) error {
	_, _, err := c.act("pause", c.Reason, s)
	return err
}

type resumeCmd struct{ chosen }

// Run resumes. That it is the list which drains, and not an operator, is for who
// keeps the list: no call can change it, and no second try.
func (c *resumeCmd) Run(s streams) error {
	_, done, err := c.act("resume", "", s)
	if err == nil && !slices.ContainsFunc(done, func(m admin.Proxy) bool { return !drainedByList(m) }) {
		err = usageError{errors.New("resume: nothing is back in use: weight=0 in the list drains what was named; give it another weight there")}
	}
	return err
}

// drainedByList says whether a proxy is drained by the weight on its line, and not
// by an operator.
func drainedByList(m admin.Proxy) bool { return m.Drained && m.PauseReason == "" }

type drainCmd struct {
	chosen
	reason
	Wait config.Duration `help:"Wait until nothing is under way any more, so long at most." placeholder:"DURATION"`
}

// Run drains, and waits if that is asked for.
func (c *drainCmd) Run(s streams) error {
	d, done, err := c.act("drain", c.Reason, s)
	if err != nil || c.Wait == 0 {
		return err
	}
	ctx, cancel := untilSignal()
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, time.Duration(c.Wait))
	defer stop()
	return waitUntilDry(ctx, d, done, s.out)
}

// dryEvery is how often a drain looks whether it is over.
const dryEvery = 250 * time.Millisecond

// waitUntilDry returns when nothing is under way at these proxies, or with an
// error when ctx ends.
func waitUntilDry(ctx context.Context, d asked, members []admin.Proxy, out io.Writer) error {
	waited := map[string]bool{}
	for _, m := range members {
		waited[m.ID] = true
	}
	again := time.NewTicker(dryEvery)
	defer again.Stop()
	for {
		var all []admin.Proxy
		if err := d.get("/api/v1/proxies", &all); err != nil {
			return err
		}
		left := underWay(slices.DeleteFunc(all, func(p admin.Proxy) bool { return !waited[p.ID] }))
		if left == "" {
			_, err := fmt.Fprintln(out, "nothing is under way any more")
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("drain: still under way: %s", left)
		case <-again.C:
		}
	}
}

// underWay says how many exchanges of which proxies are, those with the most first;
// "": none.
func underWay(members []admin.Proxy) string {
	slices.SortStableFunc(members, func(a, b admin.Proxy) int { return cmp.Compare(b.InFlight, a.InFlight) })
	var parts []string
	for i, m := range members {
		switch {
		case m.InFlight == 0:
		case i < maxNamed:
			parts = append(parts, fmt.Sprintf("%d at %s (%s)", m.InFlight, m.Name, m.ID))
		case i == maxNamed:
			parts = append(parts, "and more at other proxies")
		}
	}
	return strings.Join(parts, ", ")
}

// maxNamed is how many proxies a message names at most.
const maxNamed = 10

// act has an action done to all that are chosen, and says to whom, once to each
// that is chosen by several words.
func (c *chosen) act(action, why string, s streams) (d asked, done []admin.Proxy, err error) {
	if d, err = c.daemon(action, s); err != nil {
		return d, nil, err
	}
	paths, err := c.paths(d)
	if err != nil {
		return d, nil, err
	}
	body := map[string]string{"by": cmp.Or(c.By, myself(s))}
	if why != "" {
		body["reason"] = why
	}
	sent, told := map[string]bool{}, map[string]bool{}
	for _, path := range paths {
		if sent[path] {
			continue
		}
		sent[path] = true
		var members []admin.Proxy
		if err := d.post(path+"/"+action, body, &members); err != nil {
			return d, done, err
		}
		for _, m := range members {
			if !told[m.ID] {
				told[m.ID] = true
				done = append(done, m)
				tell(s.out, action, m)
			}
		}
	}
	return d, done, nil
}

// tell says how a proxy stands after an action.
func tell(out io.Writer, action string, m admin.Proxy) {
	note := ""
	if action == "resume" && drainedByList(m) {
		note = "  (still drained: weight=0 in its list)"
	}
	_, _ = fmt.Fprintf(out, "%s  %s  %s%s\n", m.ID, m.Standing(), m.Name, note)
}

// paths are where the API has what is chosen. All proxies of a name are meant: a
// line with a range of ports gives it to many.
func (c *chosen) paths(d asked) (paths []string, err error) {
	var all []admin.Proxy
	for _, word := range c.Proxy {
		if tag, ok := strings.CutPrefix(word, "tag:"); ok {
			paths = append(paths, "/api/v1/tags/"+url.PathEscape(tag))
			continue
		}
		if all == nil {
			if err := d.get("/api/v1/proxies", &all); err != nil {
				return nil, err
			}
		}
		before := len(paths)
		for _, p := range all {
			if p.ID == word || p.Name == word {
				paths = append(paths, "/api/v1/proxies/"+p.ID)
			}
		}
		if len(paths) == before {
			return nil, usageError{fmt.Errorf("%s: no proxy has the id or the name %q; swivel status lists them", d.command, word)}
		}
	}
	return paths, nil
}

// myself is who runs this, as far as the system tells.
func myself(s streams) string {
	sudoer, _ := s.env("SUDO_USER")
	user, _ := s.env("USER")
	host, _ := os.Hostname()
	return cmp.Or(sudoer, user, fmt.Sprintf("uid %d", os.Getuid())) + "@" + cmp.Or(host, "unknown")
}

type reloadCmd struct {
	whom
	By string `help:"Who wants it, for the audit log (default: you)." placeholder:"NAME"`
}

// Run has the daemon read everything again.
func (c *reloadCmd) Run(s streams) error {
	d, err := c.daemon("reload", s)
	if err != nil {
		return err
	}
	var done admin.Reloaded
	if err := d.post("/api/v1/reload", map[string]string{"by": cmp.Or(c.By, myself(s))}, &done); err != nil {
		return err
	}
	_, err = io.WriteString(s.out, reloadText(done))
	return err
}

// leftOut says how much of a list is no proxy of its own.
func leftOut(skipped, merged int) string {
	return spelling.Counted(skipped, "line", "lines") + " skipped, " + spelling.Counted(merged, "duplicate", "duplicates") + " merged"
}

// reloadText is what a reload did, for people.
func reloadText(r admin.Reloaded) string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "reloaded: %d added, %d kept, %d removed; %s\n",
		r.Added, r.Kept, r.Removed, leftOut(r.Skipped, r.Merged))
	if r.OwnAddress > 0 {
		_, _ = fmt.Fprintf(&b, "not used, because they are swivel itself: %d\n", r.OwnAddress)
	}
	reasons := slices.SortedFunc(maps.Keys(r.Reasons), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.Reasons[b], r.Reasons[a]), cmp.Compare(a, b))
	})
	for _, why := range reasons {
		_, _ = fmt.Fprintf(&b, "skipped: %d × %s\n", r.Reasons[why], why)
	}
	for _, stale := range r.Stale {
		_, _ = fmt.Fprintf(&b, "what it said last is used: %s\n", stale)
	}
	for _, key := range r.RestartNeeded {
		_, _ = fmt.Fprintf(&b, "takes a restart: %s\n", key)
	}
	return b.String()
}
