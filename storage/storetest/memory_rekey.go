package storetest

import (
	"context"
	"slices"

	"swivel/storage"
)

// Rekey moves the rows to other ids.
func (m *Memory) Rekey(ctx context.Context, salt []byte, ids map[string]string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	rows, pauses := m.rows, m.pauses
	m.rows, m.pauses, m.pins = map[string]storage.Record{}, map[string]storage.Pause{}, map[string]storage.Pin{}
	for id, record := range rows {
		if record.ProxyID = ids[id]; record.ProxyID != "" {
			m.rows[record.ProxyID] = record
		}
	}
	for id, pause := range pauses {
		if pause.ProxyID = ids[id]; pause.ProxyID != "" {
			m.pauses[pause.ProxyID] = pause
		}
	}
	m.bans, m.salt = storage.Rekeyed(m.bans, ids), slices.Clone(salt)
	return nil
}
