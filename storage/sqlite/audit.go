package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"swivel/storage"
)

// Audit appends a deed to the log.
func (s *Store) Audit(ctx context.Context, d storage.Deed) error {
	if err := d.Validate(); err != nil {
		return err
	}
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO audit_log (at, caller, action, subject, input) VALUES (?, ?, ?, ?, ?)",
			toSeconds(d.At), d.Caller, d.Action, d.Subject, d.Input)
		return err
	})
	if err != nil {
		return fmt.Errorf("write the audit log in %s: %w", s.path, err)
	}
	return nil
}

// Deeds reads the last deeds, the latest first; rows of nonsense are left out.
func (s *Store) Deeds(ctx context.Context, limit int) ([]storage.Deed, error) {
	deeds, _, err := scan(ctx, s.db, decodeDeed, "SELECT at, caller, action, subject, input FROM audit_log ORDER BY id DESC LIMIT ?", limit)
	if err != nil {
		return nil, fmt.Errorf("read the audit log from %s: %w", s.path, err)
	}
	return deeds, nil
}

func decodeDeed(d *decoder) (storage.Deed, error) {
	deed := storage.Deed{ // in the order of the columns
		At: d.time("at"), Caller: d.text("caller"), Action: d.text("action"), Subject: d.text("subject"), Input: d.text("input"),
	}
	if d.err != nil {
		return storage.Deed{}, d.err
	}
	return deed, deed.Validate()
}
