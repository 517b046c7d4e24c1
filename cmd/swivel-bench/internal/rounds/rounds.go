package rounds

import (
	"context"
	"errors"
	"fmt"
	"io"

	"swivel/cmd/swivel-bench/internal/peer"
)

// Bench is what a comparison is made with.
type Bench struct {
	Kinds   []peer.Kind // swivel first
	Other   *peer.Kind  // swivel as another user; nil: it cannot be run as one
	Rounds  int
	Setting peer.Setting // Connections is filled in
	Log     io.Writer    // a line per proxy and round
}

// Run makes all rounds of a workload. That a proxy fails is in the result; the
// error is that the comparison cannot go on.
func (b *Bench) Run(ctx context.Context, w Workload) (*Result, error) {
	result := &Result{Workload: w}
	for _, k := range b.kinds(w) {
		result.Rows = append(result.Rows, Row{Name: k.Name})
	}
	for round := range b.Rounds {
		subjects, err := b.round(ctx, w)
		if err != nil {
			return nil, err
		}
		for i, s := range subjects {
			row := &result.Rows[i]
			row.Rounds = append(row.Rounds, s.figures)
			if row.Err == nil {
				row.Err = s.err
			}
			_, _ = fmt.Fprintf(b.Log, "%s, round %d of %d: %s %s\n", w.Name, round+1, b.Rounds, row.Name, s.summary(w.Columns))
		}
	}
	return result, nil
}

// kinds are the proxies that the workload is about.
func (b *Bench) kinds(w Workload) (kinds []peer.Kind) {
	for _, k := range b.Kinds {
		if k.Name != w.without {
			kinds = append(kinds, k)
		}
		if len(kinds) == 1 && w.asOther && b.Other != nil {
			kinds = append(kinds, *b.Other)
		}
	}
	return kinds
}

// round starts all proxies, runs the load and stops them.
func (b *Bench) round(ctx context.Context, w Workload) (subjects []*subject, err error) {
	defer func() {
		for _, s := range subjects {
			if s.Running != nil {
				err = errors.Join(err, s.Stop())
			}
		}
	}()
	setting := b.Setting
	setting.Connections = w.room
	for _, k := range b.kinds(w) {
		running, err := k.Start(ctx, setting)
		subjects = append(subjects, &subject{Running: running, err: err})
	}
	return subjects, w.run(ctx, subjects)
}

// summary is the figures in one line, or what went wrong.
func (s *subject) summary(columns []Column) string {
	if s.err != nil {
		return "failed: " + s.err.Error()
	}
	text := ""
	for i, c := range columns {
		text += fmt.Sprintf(" %s %.*f", c.Title, c.Digits, s.figures[i])
	}
	return text
}
