package redis

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"swivel/storage"
)

// Store is a storage.Store at a server: tables are hashes of JSON documents.
type Store struct {
	client *Client
	now    func() time.Time
}

var _ storage.Store = (*Store)(nil)

// Store returns a store that takes its time stamps from now. Its Close closes the
// client.
func (c *Client) Store(now func() time.Time) *Store { return &Store{client: c, now: now} }

// Close ends the connections.
func (s *Store) Close() error { return s.client.Close() }

// write runs commands all or none, and keeps the keys for another day.
func (s *Store) write(ctx context.Context, work func(p redis.Pipeliner), keys ...string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := s.client.redis.TxPipelined(ctx, func(p redis.Pipeliner) error {
		work(p)
		for _, key := range keys {
			p.Expire(ctx, s.client.key(key), day)
		}
		return nil
	})
	return explain(err)
}

// read returns a hash; what makes no sense of it is described in skipped.
func read[T any](ctx context.Context, s *Store, key string, valid func(*T) error) (found map[string]T, skipped []error, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	all, err := s.client.redis.HGetAll(ctx, s.client.key(key)).Result()
	if err != nil {
		return nil, nil, explain(err)
	}
	found = make(map[string]T, len(all))
	for field, text := range all {
		var one T
		err := json.Unmarshal([]byte(text), &one)
		if err == nil {
			err = valid(&one)
		}
		if err != nil {
			skipped = append(skipped, fmt.Errorf("%s %q: %w", key, field[:min(len(field), 64)], err))
			continue
		}
		found[field] = one
	}
	return found, skipped, nil
}

func document(v any) string {
	text, _ := json.Marshal(v) // what is stored here has no field that fails
	return string(text)
}

// Save implements storage.Store.
func (s *Store) Save(ctx context.Context, records []storage.Record) error {
	for i := range records {
		if err := records[i].Validate(); err != nil {
			return err
		}
	}
	if len(records) == 0 {
		return ctx.Err()
	}
	stamp := s.now().UnixMicro()
	return s.write(ctx, func(p redis.Pipeliner) {
		for _, r := range records {
			r.CreatedAt, r.UpdatedAt = time.Time{}, time.Time{}
			p.HSet(ctx, s.client.key("records"), r.ProxyID, document(r))
			p.HSetNX(ctx, s.client.key("created"), r.ProxyID, stamp)
			p.HSet(ctx, s.client.key("updated"), r.ProxyID, stamp)
		}
	}, "records", "created", "updated")
}

// Load implements storage.Store.
func (s *Store) Load(ctx context.Context, ids []string) (records []storage.Record, skipped []error, err error) {
	found, skipped, err := read(ctx, s, "records", (*storage.Record).Validate)
	if err != nil {
		return nil, nil, err
	}
	created, err := s.stamps(ctx, "created")
	if err != nil {
		return nil, nil, err
	}
	updated, err := s.stamps(ctx, "updated")
	if err != nil {
		return nil, nil, err
	}
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	for id, r := range found {
		if ids == nil || wanted[id] {
			r.CreatedAt, r.UpdatedAt = created[id], updated[id]
			records = append(records, r)
		}
	}
	return records, skipped, nil
}

// stamps is a hash of times.
func (s *Store) stamps(ctx context.Context, key string) (map[string]time.Time, error) {
	all, err := s.client.redis.HGetAll(ctx, s.client.key(key)).Result()
	if err != nil {
		return nil, explain(err)
	}
	stamps := make(map[string]time.Time, len(all))
	for id, text := range all {
		if micros, err := strconv.ParseInt(text, 10, 64); err == nil {
			stamps[id] = time.UnixMicro(micros).UTC()
		}
	}
	return stamps, nil
}

// Prune implements storage.Store.
func (s *Store) Prune(ctx context.Context, olderThan time.Time, keep func(proxyID string) bool) (removed int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	updated, err := s.stamps(ctx, "updated")
	if err != nil {
		return 0, err
	}
	var gone []string
	for id, at := range updated {
		if at.Before(olderThan) && !keep(id) {
			gone = append(gone, id)
		}
	}
	if len(gone) == 0 {
		return 0, nil
	}
	err = s.write(ctx, func(p redis.Pipeliner) {
		for _, key := range []string{"records", "created", "updated"} {
			p.HDel(ctx, s.client.key(key), gone...)
		}
	})
	if err != nil {
		return 0, err
	}
	return len(gone), nil
}

// Salt implements storage.Store. It is the one that a Hub compares.
func (s *Store) Salt(ctx context.Context) ([]byte, error) {
	fresh := make([]byte, storage.SaltSize)
	_, _ = rand.Read(fresh) // never fails, it says
	return s.client.Salt(ctx, fresh)
}

// HasSalt says whether the fleet has a salt already.
func (c *Client) HasSalt(ctx context.Context) (bool, error) {
	found, err := c.redis.HExists(ctx, c.key("meta"), "salt").Result()
	return found, explain(err)
}

// Salt returns the salt of the fleet, which is the given one if it has none yet.
func (c *Client) Salt(ctx context.Context, own []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := c.redis.TxPipeline()
	p.HSetNX(ctx, c.key("meta"), "salt", hex.EncodeToString(own))
	p.Expire(ctx, c.key("meta"), day)
	kept := p.HGet(ctx, c.key("meta"), "salt")
	if _, err := p.Exec(ctx); err != nil {
		return nil, explain(err)
	}
	salt, err := hex.DecodeString(kept.Val())
	if err != nil || len(salt) != storage.SaltSize {
		return nil, errors.New("redis: what it has as the salt of the fleet is none")
	}
	return salt, nil
}
