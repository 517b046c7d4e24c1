package storetest

import (
	"context"
	"maps"
	"slices"

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
