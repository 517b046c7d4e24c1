package redis

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/redis/go-redis/v9"

	"swivel/storage"
)

// rekeyed is what goes on under new ids.
type rekeyed struct {
	records          map[string]storage.Record // by their old ids, as the stamps are
	created, updated map[string]time.Time
	pauses           []storage.Pause
	targets          targets
}

// Rekey implements storage.Store.
func (s *Store) Rekey(ctx context.Context, salt []byte, ids map[string]string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	k, err := s.readRekeyed(ctx)
	if err != nil {
		return err
	}
	k.targets.Bans = storage.Rekeyed(k.targets.Bans, ids)
	return s.write(ctx, func(p redis.Pipeliner) {
		for _, key := range []string{"records", "created", "updated", "pauses", "pins"} {
			p.Del(ctx, s.client.key(key))
		}
		for id, r := range k.records {
			if r.ProxyID = ids[id]; r.ProxyID != "" {
				p.HSet(ctx, s.client.key("records"), r.ProxyID, document(r))
				p.HSet(ctx, s.client.key("created"), r.ProxyID, k.created[id].UnixMicro())
				p.HSet(ctx, s.client.key("updated"), r.ProxyID, k.updated[id].UnixMicro())
			}
		}
		for _, one := range k.pauses {
			if one.ProxyID = ids[one.ProxyID]; one.ProxyID != "" {
				p.HSet(ctx, s.client.key("pauses"), one.ProxyID, document(one))
			}
		}
		p.Set(ctx, s.client.key("targets"), document(k.targets), day)
		p.HSet(ctx, s.client.key("meta"), "salt", hex.EncodeToString(salt))
	}, "records", "created", "updated", "pauses", "meta")
}

func (s *Store) readRekeyed(ctx context.Context) (k rekeyed, err error) {
	if k.records, _, err = read(ctx, s, "records", (*storage.Record).Validate); err != nil {
		return k, err
	}
	if k.created, err = s.stamps(ctx, "created"); err != nil {
		return k, err
	}
	if k.updated, err = s.stamps(ctx, "updated"); err != nil {
		return k, err
	}
	if k.pauses, err = s.Pauses(ctx); err != nil {
		return k, err
	}
	k.targets.Bans, k.targets.Rests, err = s.LoadTargets(ctx, time.Time{})
	return k, err
}
