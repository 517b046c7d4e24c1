package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// Rekey moves the rows of all tables in one transaction.
func (s *Store) Rekey(ctx context.Context, salt []byte, ids map[string]string) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		for _, table := range []string{"circuit_breaker_states", "pauses", "bans"} {
			if err := rekey(tx, table, ids); err != nil {
				return err
			}
		}
		if _, err := tx.Exec("DELETE FROM session_pins"); err != nil {
			return err
		}
		_, err := tx.Exec("INSERT OR REPLACE INTO meta (key, value) VALUES ('salt', ?)", salt)
		return err
	})
	if err != nil {
		return fmt.Errorf("give the rows of %s other ids: %w", s.path, err)
	}
	return nil
}

// rekey renames the proxies of a table. The name of the table is the program's own.
func rekey(tx *sql.Tx, table string, ids map[string]string) error {
	rows, err := tx.Query("SELECT DISTINCT proxy_id FROM " + table)
	if err != nil {
		return err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return err
		}
		all = append(all, id)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, id := range all {
		if ids[id] == "" {
			_, err = tx.Exec("DELETE FROM "+table+" WHERE proxy_id = ?", id)
		} else {
			_, err = tx.Exec("UPDATE "+table+" SET proxy_id = ? WHERE proxy_id = ?", ids[id], id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
