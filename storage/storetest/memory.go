package storetest

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"swivel/storage"
)

// Memory is a Store without a disk, for tests of what stands in front of one.
// Create it with [NewMemory]. It is safe for concurrent use.
type Memory struct {
	now func() time.Time

	mu     sync.Mutex
	rows   map[string]storage.Record
	pauses map[string]storage.Pause
	bans   []storage.Ban
	rests  []storage.TargetRest
	pins   map[string]storage.Pin
	deeds  []storage.Deed
	salt   []byte
}

var _ storage.Store = (*Memory)(nil)

// NewMemory returns an empty store that takes its time stamps from now.
func NewMemory(now func() time.Time) *Memory {
	return &Memory{now: now, rows: make(map[string]storage.Record), pauses: make(map[string]storage.Pause), pins: make(map[string]storage.Pin)}
}

// Load returns the records of these proxies, or with nil of all.
func (m *Memory) Load(ctx context.Context, ids []string) (records []storage.Record, skipped []error, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, record := range m.rows {
		if ids != nil && !slices.Contains(ids, id) {
			continue
		}
		record.Failures, record.Window = slices.Clone(record.Failures), slices.Clone(record.Window)
		records = append(records, record)
	}
	return records, nil, nil
}

// Save keeps the records.
func (m *Memory) Save(ctx context.Context, records []storage.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range records {
		if err := records[i].Validate(); err != nil {
			return err
		}
	}
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, record := range records {
		record.CreatedAt, record.UpdatedAt = now, now
		if old, ok := m.rows[record.ProxyID]; ok {
			record.CreatedAt = old.CreatedAt
		}
		record.Failures, record.Window = slices.Clone(record.Failures), slices.Clone(record.Window)
		m.rows[record.ProxyID] = record
	}
	return nil
}

// Prune removes old records that keep does not claim.
func (m *Memory) Prune(ctx context.Context, olderThan time.Time, keep func(proxyID string) bool) (removed int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, record := range m.rows {
		if record.UpdatedAt.Before(olderThan) && !keep(id) {
			delete(m.rows, id)
			removed++
		}
	}
	return removed, nil
}

// Salt returns the store's random bytes.
func (m *Memory) Salt(ctx context.Context) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.salt == nil {
		m.salt = make([]byte, storage.SaltSize)
		_, _ = rand.Read(m.salt) // never fails, it says
	}
	return slices.Clone(m.salt), nil
}

// Close does nothing.
func (m *Memory) Close() error { return nil }
