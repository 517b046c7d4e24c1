package simulate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// table is what a scenario has measured, in Markdown.
type table struct {
	title string
	head  []string
	rows  [][]string
}

func newTable(title string, head ...string) *table { return &table{title: title, head: head} }

// add adds a row; times are written with what precision they deserve.
func (a *table) add(cells ...any) {
	var row []string
	for _, c := range cells {
		switch c := c.(type) {
		case time.Duration:
			row = append(row, seconds(c))
		case float64:
			row = append(row, fmt.Sprintf("%.3g", c))
		default:
			row = append(row, fmt.Sprint(c))
		}
	}
	a.rows = append(a.rows, row)
}

func (a *table) print(t *testing.T) {
	t.Helper()
	if !*full && !testing.Verbose() {
		return
	}
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(a.head)
	b.WriteString(strings.Repeat("| --- ", len(a.head)) + "|\n")
	for _, row := range a.rows {
		line(row)
	}
	fmt.Printf("\n%s\n\n%s\n", a.title, b.String())
}

func seconds(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	default:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
}

func percent(part, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3g %%", 100*float64(part)/float64(of))
}

// quantile sorts.
func quantile(of []time.Duration, q float64) time.Duration {
	if len(of) == 0 {
		return 0
	}
	slices.Sort(of)
	return of[int(q*float64(len(of)-1))]
}
