-- +goose Up
-- Not STRICT: the file is meant to be read with whatever sqlite3 is at hand, and
-- shells older than 3.37 refuse a file that holds one STRICT table. The loader
-- checks the type of every value instead.
-- WITHOUT ROWID: rows are only ever found by proxy_id, so one tree is enough.
-- +goose StatementBegin
CREATE TABLE circuit_breaker_states (
    proxy_id            TEXT PRIMARY KEY,        -- opaque id, never an address or a credential
    state               TEXT NOT NULL CHECK (state IN ('closed', 'open', 'half_open')),
    failure_count       INTEGER NOT NULL DEFAULT 0,
    failure_window_json TEXT NOT NULL DEFAULT '[]', -- array of unix seconds, oldest first
    next_test_time      REAL,                    -- unix seconds; NULL: no test is planned
    last_state_change   REAL,                    -- unix seconds; NULL: never changed
    failure_threshold   INTEGER NOT NULL DEFAULT 0,
    window_duration     REAL NOT NULL DEFAULT 0, -- seconds
    timeout_duration    REAL NOT NULL DEFAULT 0, -- seconds
    created_at          REAL,                    -- unix seconds
    updated_at          REAL,                    -- unix seconds
    generation          INTEGER NOT NULL DEFAULT 0,
    opens_in_row        INTEGER NOT NULL DEFAULT 0,
    cause               TEXT NOT NULL DEFAULT '', -- name of the rule behind the last change
    scope               TEXT NOT NULL DEFAULT 'proxy',
    suspicions          INTEGER NOT NULL DEFAULT 0,
    probe_wins          INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
-- +goose StatementEnd

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value BLOB
) WITHOUT ROWID;

-- +goose Down
DROP TABLE meta;
DROP TABLE circuit_breaker_states;
