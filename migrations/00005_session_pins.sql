-- +goose Up
-- The id is a keyed hash: what clients call their sessions is not stored.
CREATE TABLE session_pins (
    session_id TEXT PRIMARY KEY,
    proxy_id   TEXT NOT NULL,
    last_use   REAL NOT NULL, -- unix seconds; behind by an eighth of ttl at most
    ttl        REAL NOT NULL  -- seconds after the last use
) WITHOUT ROWID;

-- +goose Down
DROP TABLE session_pins;
