package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"swivel/storage"
)

const selectPauses = "SELECT proxy_id, reason, paused_by, paused_at, drain FROM pauses"

const upsertPause = "INSERT OR REPLACE INTO pauses (proxy_id, reason, paused_by, paused_at, drain) VALUES (?, ?, ?, ?, ?)"

// Pauses reads every pause; rows that name no proxy are left out.
func (s *Store) Pauses(ctx context.Context) ([]storage.Pause, error) {
	pauses, _, err := scan(ctx, s.db, decodePause, selectPauses)
	if err != nil {
		return nil, fmt.Errorf("load pauses from %s: %w", s.path, err)
	}
	return pauses, nil
}

// SetPause stores the pause in a transaction of its own.
func (s *Store) SetPause(ctx context.Context, pause storage.Pause) error {
	if err := pause.Validate(); err != nil {
		return err
	}
	err := s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(upsertPause, pause.ProxyID, pause.Reason, pause.By, toSeconds(pause.At), pause.Drain)
		return err
	})
	if err != nil {
		return fmt.Errorf("save pause of %s to %s: %w", pause.ProxyID, s.path, err)
	}
	return nil
}

// ClearPause removes the pause of a proxy.
func (s *Store) ClearPause(ctx context.Context, proxyID string) (found bool, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		result, err := tx.Exec("DELETE FROM pauses WHERE proxy_id = ?", proxyID)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		found = n > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("remove a pause from %s: %w", s.path, err)
	}
	return found, nil
}

// decodePause takes a row for a pause as soon as it names the proxy: that an operator
// took it out of use counts for more than what a damaged row still says about it.
func decodePause(d *decoder) (storage.Pause, error) {
	pause := storage.Pause{ // in the order of the columns
		ProxyID: d.text("proxy_id"),
		Reason:  d.text("reason"),
		By:      d.text("paused_by"),
		At:      d.time("paused_at"),
		Drain:   d.flag("drain"),
	}
	if d.err == nil && pause.Validate() == nil {
		return pause, nil
	}
	pause = storage.Pause{ProxyID: pause.ProxyID, Reason: "the rest of its row in the database is damaged", At: time.Unix(0, 0)}
	return pause, pause.Validate()
}
