package storetest

import (
	"context"
	"maps"
	"slices"
	"time"

	"swivel/storage"
)

// Pauses returns every pause.
func (m *Memory) Pauses(ctx context.Context) ([]storage.Pause, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.pauses)), nil
}

// SetPause keeps the pause.
func (m *Memory) SetPause(ctx context.Context, pause storage.Pause) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := pause.Validate(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pauses[pause.ProxyID] = pause
	return nil
}

// ClearPause removes the pause of a proxy.
func (m *Memory) ClearPause(ctx context.Context, proxyID string) (found bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, found = m.pauses[proxyID]
	delete(m.pauses, proxyID)
	return found, nil
}

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
