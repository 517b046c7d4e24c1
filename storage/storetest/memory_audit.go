package storetest

import (
	"context"
	"slices"

	"swivel/storage"
)

// Audit appends a deed.
func (m *Memory) Audit(ctx context.Context, d storage.Deed) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.Validate(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.deeds = append(m.deeds, d)
	return nil
}

// Deeds returns the last deeds.
func (m *Memory) Deeds(ctx context.Context, limit int) ([]storage.Deed, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	deeds := slices.Clone(m.deeds[max(0, len(m.deeds)-limit):])
	slices.Reverse(deeds)
	return deeds, nil
}
