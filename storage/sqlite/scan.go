package sqlite

import (
	"context"
	"database/sql"
	"errors"
)

// scan returns what decode makes of each row of a query, and its errors in
// skipped. Columns are scanned into values of any type, because a column of
// SQLite holds whatever was written to it, and a scan into a float that meets a
// text would end the whole load.
//
// The query itself is not cancelled, as in Store.transact.
func scan[T any](ctx context.Context, db *sql.DB, decode func(*decoder) (T, error), query string, args ...any) (found []T, skipped []error, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	rows, err := db.QueryContext(context.WithoutCancel(ctx), query, args...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, nil, err
	}
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() && ctx.Err() == nil {
		if err := rows.Scan(targets...); err != nil {
			return nil, nil, err
		}
		row, err := decode(&decoder{values: values})
		if err != nil {
			skipped = append(skipped, err)
			continue
		}
		found = append(found, row)
	}
	if err := errors.Join(rows.Err(), ctx.Err()); err != nil {
		return nil, nil, err
	}
	return found, skipped, nil
}
