package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// pruneStep is how many rows one transaction of Prune looks at. It takes some 10
// ms; a transition that comes meanwhile has 50.
const pruneStep = 4000

// selectStep walks the whole table in the order of its key and not just the old
// rows: finding those alone would take the time of a whole walk for each step.
const selectStep = `SELECT proxy_id, scope = 'proxy' AND (updated_at IS NULL OR updated_at < ?)
	FROM circuit_breaker_states WHERE proxy_id > ? ORDER BY proxy_id LIMIT ?`

const deleteRows = "DELETE FROM circuit_breaker_states WHERE proxy_id IN " + listed

// Prune removes the old rows that keep does not claim, nonsense included.
func (s *Store) Prune(ctx context.Context, olderThan time.Time, keep func(proxyID string) bool) (removed int, err error) {
	for last, more := any(""), true; more; {
		err = s.transact(ctx, func(tx *sql.Tx) error {
			step, err := lookAtStep(tx, olderThan, last)
			if err != nil {
				return err
			}
			last, more = step.last, step.full
			n, err := deleteUnless(tx, step.old, keep)
			removed += n
			return err
		})
		if err != nil {
			return removed, fmt.Errorf("prune %s: %w", s.path, err)
		}
	}
	return removed, nil
}

// pruneStepRows are the rows that one step looked at.
type pruneStepRows struct {
	old  []string // ids
	last any      // the key of the last one, of whatever type somebody gave it
	full bool     // there may be more
}

func lookAtStep(tx *sql.Tx, olderThan time.Time, after any) (found pruneStepRows, err error) {
	rows, err := tx.Query(selectStep, toSeconds(olderThan), after, pruneStep)
	if err != nil {
		return found, err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var old bool
		if err := rows.Scan(&found.last, &old); err != nil {
			return found, err
		}
		if id, ok := found.last.(string); ok && old {
			found.old = append(found.old, id)
		}
	}
	found.full = n == pruneStep
	return found, rows.Err()
}

func deleteUnless(tx *sql.Tx, ids []string, keep func(string) bool) (deleted int, err error) {
	var gone []string
	for _, id := range ids {
		if !keep(id) {
			gone = append(gone, id)
		}
	}
	if len(gone) == 0 {
		return 0, nil
	}
	result, err := tx.Exec(deleteRows, toList(gone))
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}
