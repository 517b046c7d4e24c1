package storetest

import (
	"context"
	"slices"
	"time"

	"swivel/storage"
)

// SaveTargets keeps the bans and rests in place of those before.
func (m *Memory) SaveTargets(ctx context.Context, bans []storage.Ban, rests []storage.TargetRest) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	bans, rests = storage.Lasting(bans, rests)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bans, m.rests = bans, rests
	return nil
}

// LoadTargets returns the bans and rests that are not over.
func (m *Memory) LoadTargets(ctx context.Context, now time.Time) ([]storage.Ban, []storage.TargetRest, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	bans := slices.DeleteFunc(slices.Clone(m.bans), func(b storage.Ban) bool { return !b.Until.After(now) })
	rests := slices.DeleteFunc(slices.Clone(m.rests), func(r storage.TargetRest) bool { return !r.Until.After(now) })
	return bans, rests, nil
}
