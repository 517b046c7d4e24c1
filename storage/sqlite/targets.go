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
	selectBans  = "SELECT proxy_id, target, until FROM bans"
	selectRests = "SELECT target, until, rest FROM target_rests"
	insertBan   = "INSERT INTO bans (proxy_id, target, until) VALUES (?, ?, ?)"
	insertRest  = "INSERT INTO target_rests (target, until, rest) VALUES (?, ?, ?)"
)

// SaveTargets replaces both tables in one transaction.
func (s *Store) SaveTargets(ctx context.Context, bans []storage.Ban, rests []storage.TargetRest) error {
	bans, rests = storage.Lasting(bans, rests)
	err := s.write(ctx, func(tx *sql.Tx) error {
		if err := replaceBans(tx, bans); err != nil {
			return err
		}
		return replaceRests(tx, rests)
	})
	if err != nil {
		return fmt.Errorf("save %d bans and %d rests of targets to %s: %w", len(bans), len(rests), s.path, err)
	}
	return nil
}

func replaceBans(tx *sql.Tx, bans []storage.Ban) error {
	if _, err := tx.Exec("DELETE FROM bans"); err != nil {
		return err
	}
	insert, err := tx.Prepare(insertBan)
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, ban := range bans {
		if _, err := insert.Exec(ban.ProxyID, ban.Target, toSeconds(ban.Until)); err != nil {
			return err
		}
	}
	return nil
}

func replaceRests(tx *sql.Tx, rests []storage.TargetRest) error {
	if _, err := tx.Exec("DELETE FROM target_rests"); err != nil {
		return err
	}
	insert, err := tx.Prepare(insertRest)
	if err != nil {
		return err
	}
	defer insert.Close()
	for _, rest := range rests {
		if _, err := insert.Exec(rest.Target, toSeconds(rest.Until), rest.Rest.Seconds()); err != nil {
			return err
		}
	}
	return nil
}

// LoadTargets reads both tables; rows of nonsense and what is over are left out.
func (s *Store) LoadTargets(ctx context.Context, now time.Time) ([]storage.Ban, []storage.TargetRest, error) {
	bans, _, err := scan(ctx, s.db, decodeBan, selectBans)
	if err != nil {
		return nil, nil, fmt.Errorf("load bans from %s: %w", s.path, err)
	}
	rests, _, err := scan(ctx, s.db, decodeRest, selectRests)
	if err != nil {
		return nil, nil, fmt.Errorf("load rests of targets from %s: %w", s.path, err)
	}
	bans = slices.DeleteFunc(bans, func(b storage.Ban) bool { return !b.Until.After(now) })
	rests = slices.DeleteFunc(rests, func(r storage.TargetRest) bool { return !r.Until.After(now) })
	return bans, rests, nil
}

func decodeBan(d *decoder) (storage.Ban, error) {
	ban := storage.Ban{ // in the order of the columns
		ProxyID: d.text("proxy_id"),
		Target:  d.text("target"),
		Until:   d.time("until"),
	}
	if d.err != nil {
		return storage.Ban{}, d.err
	}
	return ban, ban.Validate()
}

func decodeRest(d *decoder) (storage.TargetRest, error) {
	rest := storage.TargetRest{ // in the order of the columns
		Target: d.text("target"),
		Until:  d.time("until"),
		Rest:   d.duration("rest"),
	}
	if d.err != nil {
		return storage.TargetRest{}, d.err
	}
	return rest, rest.Validate()
}
