package storetest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"swivel/storage"
)

// SavePins keeps the pins and drops those of the sessions that are gone.
func (m *Memory) SavePins(ctx context.Context, pins []storage.Pin, gone []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, pin := range pins {
		if err := pin.Validate(); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, pin := range pins {
		m.pins[pin.SessionID] = pin
	}
	for _, id := range gone {
		delete(m.pins, id)
	}
	return nil
}

// LoadPins drops the pins that are over and returns the others.
func (m *Memory) LoadPins(ctx context.Context, now time.Time) ([]storage.Pin, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.pins, func(_ string, p storage.Pin) bool { return p.Over(now) })
	return slices.SortedFunc(maps.Values(m.pins), func(a, b storage.Pin) int {
		return cmp.Or(a.LastUse.Compare(b.LastUse), cmp.Compare(a.SessionID, b.SessionID))
	}), nil
}
