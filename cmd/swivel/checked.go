package main

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"swivel/cmd/swivel/internal/tryout"
)

// write prints the results in the form that was asked for.
func (c *checkCmd) write(out io.Writer, results []tryout.Result) error {
	switch c.Output {
	case "json":
		return writeJSON(out, results)
	case "csv":
		return writeCSV(out, results)
	case "list":
		return writeList(out, results)
	}
	_, err := io.WriteString(out, checkedText(results, c.All))
	return err
}

// checked is a result in JSON. It holds no credentials.
type checked struct {
	Proxy   string  `json:"proxy"` // scheme://host:port, as it is listed
	Name    string  `json:"name,omitempty"`
	Alive   bool    `json:"alive"`
	Speaks  string  `json:"speaks,omitempty"`
	Latency float64 `json:"latency_ms,omitempty"`
	ExitIP  string  `json:"exit_ip,omitempty"`
	Reason  string  `json:"reason,omitempty"`
}

func toChecked(r tryout.Result) checked {
	c := checked{Proxy: r.Spec.Scheme.String() + "://" + r.Spec.Address(), Name: r.Spec.Name, Alive: r.Alive, Reason: r.Reason}
	if r.Alive {
		c.Speaks, c.Latency = r.Spoken.String(), float64(r.Latency.Round(100*time.Microsecond))/float64(time.Millisecond)
	}
	if r.ExitIP.IsValid() {
		c.ExitIP = r.ExitIP.String()
	}
	return c
}

func writeJSON(out io.Writer, results []tryout.Result) error {
	all := make([]checked, 0, len(results))
	for _, r := range results {
		all = append(all, toChecked(r))
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(all)
}

func writeCSV(out io.Writer, results []tryout.Result) error {
	w := csv.NewWriter(out)
	_ = w.Write([]string{"proxy", "name", "alive", "speaks", "latency_ms", "exit_ip", "reason"})
	for _, r := range results {
		c := toChecked(r)
		latency := ""
		if c.Alive {
			latency = strconv.FormatFloat(c.Latency, 'f', -1, 64)
		}
		_ = w.Write([]string{c.Proxy, c.Name, strconv.FormatBool(c.Alive), c.Speaks, latency, c.ExitIP, c.Reason})
	}
	w.Flush()
	return w.Error()
}

// writeList prints a list of those alive, as they are to be used.
func writeList(out io.Writer, results []tryout.Result) error {
	var b strings.Builder
	for _, r := range results {
		if r.Alive {
			spec := *r.Spec
			spec.Scheme = r.Spoken
			b.WriteString(spec.Line() + "\n")
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// checkedText shows those alive, the quickest first, and counts the others.
func checkedText(results []tryout.Result, all bool) string {
	var b strings.Builder
	alive := slices.DeleteFunc(slices.Clone(results), func(r tryout.Result) bool { return !r.Alive })
	slices.SortStableFunc(alive, func(p, q tryout.Result) int { return cmp.Compare(p.Latency, q.Latency) })
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "PROXY\tSPEAKS\tLATENCY\tEXIT IP")
	for _, r := range alive {
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.Spec.Label(), spoken(r), r.Latency.Round(time.Millisecond), cmp.Or(toChecked(r).ExitIP, "-"))
	}
	for _, r := range results {
		if all && !r.Alive {
			_, _ = fmt.Fprintf(t, "%s\t-\t-\t%s\n", r.Spec.Label(), r.Reason)
		}
	}
	_ = t.Flush()
	_, _ = fmt.Fprintf(&b, "\n%d of %d alive", len(alive), len(results))
	if dead := deadText(results); dead != "" {
		b.WriteString("; dead: " + dead)
	}
	return b.String() + "\n"
}

// spoken says what a proxy speaks, and what its line says if that is not so.
func spoken(r tryout.Result) string {
	if r.Spoken == r.Spec.Scheme {
		return r.Spoken.String()
	}
	return r.Spoken.String() + ", not " + r.Spec.Scheme.String()
}

// deadText counts the dead by the word that their reason begins with.
func deadText(results []tryout.Result) string {
	counts := map[string]int{}
	for _, r := range results {
		if !r.Alive {
			word, _, _ := strings.Cut(r.Reason, ":")
			counts[word]++
		}
	}
	var parts []string
	for _, word := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	}) {
		parts = append(parts, fmt.Sprintf("%d × %s", counts[word], word))
	}
	return strings.Join(parts, "; ")
}
