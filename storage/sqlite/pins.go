package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"swivel/storage"
)

const (
	// The latest used come last, as those who take them want it.
	selectPins = "SELECT session_id, proxy_id, last_use, ttl FROM session_pins ORDER BY last_use"
	upsertPin  = "INSERT OR REPLACE INTO session_pins (session_id, proxy_id, last_use, ttl) VALUES (?, ?, ?, ?)"
	deleteOver = "DELETE FROM session_pins WHERE last_use + ttl < ?"
	deletePin  = "DELETE FROM session_pins WHERE session_id = ?"
)

// SavePins stores and removes in one transaction.
func (s *Store) SavePins(ctx context.Context, pins []storage.Pin, gone []string) error {
	for _, pin := range pins {
		if err := pin.Validate(); err != nil {
			return err
		}
	}
	err := s.write(ctx, func(tx *sql.Tx) error {
		if err := upsertPins(tx, pins); err != nil {
			return err
		}
		return deletePins(tx, gone)
	})
	if err != nil {
		return fmt.Errorf("save %d sessions to %s: %w", len(pins)+len(gone), s.path, err)
	}
	return nil
}

func upsertPins(tx *sql.Tx, pins []storage.Pin) error {
	upsert, err := tx.Prepare(upsertPin)
	if err != nil {
		return err
	}
	defer upsert.Close()
	for _, pin := range pins {
		if _, err := upsert.Exec(pin.SessionID, pin.ProxyID, toSeconds(pin.LastUse), pin.TTL.Seconds()); err != nil {
			return err
		}
	}
	return nil
}

func deletePins(tx *sql.Tx, gone []string) error {
	remove, err := tx.Prepare(deletePin)
	if err != nil {
		return err
	}
	defer remove.Close()
	for _, id := range gone {
		if _, err := remove.Exec(id); err != nil {
			return err
		}
	}
	return nil
}

// LoadPins reads the pins of the sessions that are not over; rows of nonsense
// are left out. The others are removed: an earlier life may have ended before
// it could do that.
func (s *Store) LoadPins(ctx context.Context, now time.Time) ([]storage.Pin, error) {
	pins, _, err := scan(ctx, s.db, decodePin, selectPins)
	if err != nil {
		return nil, fmt.Errorf("load sessions from %s: %w", s.path, err)
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(deleteOver, toSeconds(now))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("remove ended sessions from %s: %w", s.path, err)
	}
	return slices.DeleteFunc(pins, func(p storage.Pin) bool { return p.Over(now) }), nil
}

func decodePin(d *decoder) (storage.Pin, error) {
	pin := storage.Pin{ // in the order of the columns
		SessionID: d.text("session_id"),
		ProxyID:   d.text("proxy_id"),
		LastUse:   d.time("last_use"),
		TTL:       d.duration("ttl"),
	}
	if d.err != nil {
		return storage.Pin{}, d.err
	}
	return pin, pin.Validate()
}
