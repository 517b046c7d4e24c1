package rounds

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"

	"swivel/cmd/swivel-bench/internal/stats"
)

// Result is what the rounds of one workload have shown.
type Result struct {
	Workload Workload
	Rows     []Row // swivel first
}

// Row is one proxy.
type Row struct {
	Name   string
	Rounds [][]float64 // the figures of each; nil where the proxy failed
	Err    error       // of the first round that it failed in
}

// column are the figures of one column, 0 where the proxy failed.
func (r *Row) column(i int) []float64 {
	values := make([]float64, len(r.Rounds))
	for round, figures := range r.Rounds {
		if figures != nil {
			values[round] = figures[i]
		}
	}
	return values
}

// median of a column, over the rounds in which the proxy did not fail.
func (r *Row) median(i int) float64 {
	var values []float64
	for _, figures := range r.Rounds {
		if figures != nil {
			values = append(values, figures[i])
		}
	}
	return stats.Median(values)
}

// figure is the median of a column in writing.
func (r *Row) figure(i int, c Column) string {
	if m := r.median(i); !math.IsNaN(m) {
		return strconv.FormatFloat(m, 'f', c.Digits, 64)
	}
	return "-"
}

// Ratio is swivel's cost to that of a row, round by round.
func (r *Result) Ratio(row int) stats.Ratio {
	return stats.Ratios(r.Rows[0].column(0), r.Rows[row].column(0))
}

// Failed says whether a proxy failed, in any round.
func (r *Result) Failed() bool {
	for _, row := range r.Rows {
		if row.Err != nil {
			return true
		}
	}
	return false
}

// Print writes the table.
func (r *Result) Print(out io.Writer) error {
	_, _ = fmt.Fprintf(out, "%s\n\n", r.Workload.Title)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprint(t, "\t")
	for _, c := range r.Workload.Columns {
		_, _ = fmt.Fprintf(t, "%s\t", c.Title)
	}
	_, _ = fmt.Fprintf(t, "%s is times this\t\n", r.Rows[0].Name)
	for i, row := range r.Rows {
		_, _ = fmt.Fprintf(t, "%s\t", row.Name)
		for j, c := range r.Workload.Columns {
			_, _ = fmt.Fprintf(t, "%s\t", row.figure(j, c))
		}
		if i == 0 {
			_, _ = fmt.Fprintln(t, "\t")
			continue
		}
		_, _ = fmt.Fprintf(t, "%s\t\n", r.Ratio(i))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, row := range r.Rows {
		if row.Err != nil {
			_, _ = fmt.Fprintf(out, "%s failed in some round: %v\n", row.Name, row.Err)
		}
	}
	_, err := fmt.Fprintln(out)
	return err
}
