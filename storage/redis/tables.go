package redis

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"swivel/storage"
)

// Pauses implements storage.Store.
func (s *Store) Pauses(ctx context.Context) (all []storage.Pause, err error) {
	found, _, err := read(ctx, s, "pauses", func(p *storage.Pause) error { return p.Validate() })
	for _, p := range found {
		all = append(all, p)
	}
	return all, err
}

// SetPause implements storage.Store.
func (s *Store) SetPause(ctx context.Context, pause storage.Pause) error {
	if err := pause.Validate(); err != nil {
		return err
	}
	return s.write(ctx, func(p redis.Pipeliner) {
		p.HSet(ctx, s.client.key("pauses"), pause.ProxyID, document(pause))
	}, "pauses")
}

// ClearPause implements storage.Store.
func (s *Store) ClearPause(ctx context.Context, proxyID string) (found bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	n, err := s.client.redis.HDel(ctx, s.client.key("pauses"), proxyID).Result()
	return n > 0, explain(err)
}

// Audit implements storage.Store.
func (s *Store) Audit(ctx context.Context, deed storage.Deed) error {
	if err := deed.Validate(); err != nil {
		return err
	}
	return s.write(ctx, func(p redis.Pipeliner) { p.RPush(ctx, s.client.key("audit"), document(deed)) })
}

// Deeds implements storage.Store.
func (s *Store) Deeds(ctx context.Context, limit int) (deeds []storage.Deed, err error) {
	if err := ctx.Err(); err != nil || limit <= 0 {
		return nil, err
	}
	all, err := s.client.redis.LRange(ctx, s.client.key("audit"), int64(-limit), -1).Result()
	for _, text := range slices.Backward(all) {
		var one storage.Deed
		if json.Unmarshal([]byte(text), &one) == nil && one.Validate() == nil {
			deeds = append(deeds, one)
		}
	}
	return deeds, explain(err)
}

// targets are kept as one document, which is replaced as a whole.
type targets struct {
	Bans  []storage.Ban
	Rests []storage.TargetRest
}

// SaveTargets implements storage.Store.
func (s *Store) SaveTargets(ctx context.Context, bans []storage.Ban, rests []storage.TargetRest) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	bans, rests = storage.Lasting(bans, rests)
	return explain(s.client.redis.Set(ctx, s.client.key("targets"), document(targets{bans, rests}), day).Err())
}

// LoadTargets implements storage.Store.
func (s *Store) LoadTargets(ctx context.Context, now time.Time) ([]storage.Ban, []storage.TargetRest, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	text, err := s.client.redis.Get(ctx, s.client.key("targets")).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, explain(err)
	}
	var all targets
	if json.Unmarshal(text, &all) != nil {
		return nil, nil, nil // nonsense is left out
	}
	bans, rests := storage.Lasting(all.Bans, all.Rests)
	bans = slices.DeleteFunc(bans, func(b storage.Ban) bool { return !b.Until.After(now) })
	rests = slices.DeleteFunc(rests, func(r storage.TargetRest) bool { return !r.Until.After(now) })
	return bans, rests, nil
}

// SavePins implements storage.Store.
func (s *Store) SavePins(ctx context.Context, pins []storage.Pin, gone []string) error {
	for _, pin := range pins {
		if err := pin.Validate(); err != nil {
			return err
		}
	}
	return s.write(ctx, func(p redis.Pipeliner) {
		for _, pin := range pins {
			p.HSet(ctx, s.client.key("pins"), pin.SessionID, document(pin))
		}
		if len(gone) > 0 {
			p.HDel(ctx, s.client.key("pins"), gone...)
		}
	}, "pins")
}

// LoadPins implements storage.Store.
func (s *Store) LoadPins(ctx context.Context, now time.Time) (pins []storage.Pin, err error) {
	found, _, err := read(ctx, s, "pins", func(p *storage.Pin) error { return p.Validate() })
	if err != nil {
		return nil, err
	}
	var over []string
	for id, pin := range found {
		if pin.Over(now) {
			over = append(over, id)
			continue
		}
		pins = append(pins, pin)
	}
	if len(over) > 0 {
		err = explain(s.client.redis.HDel(ctx, s.client.key("pins"), over...).Err())
	}
	slices.SortFunc(pins, func(a, b storage.Pin) int {
		return cmp.Or(a.LastUse.Compare(b.LastUse), cmp.Compare(a.SessionID, b.SessionID))
	})
	return pins, err
}
