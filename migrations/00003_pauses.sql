-- +goose Up
-- A table of its own and not a column of the breaker's: its row is written by
-- the journal, a moment late and in ignorance of pauses, and is removed when the
-- proxy has been off the list for long. An operator's word is neither.
CREATE TABLE pauses (
    proxy_id  TEXT PRIMARY KEY,
    reason    TEXT NOT NULL,
    paused_at REAL NOT NULL,           -- unix seconds
    paused_by TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;

-- +goose Down
DROP TABLE pauses;
