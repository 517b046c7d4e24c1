-- +goose Up
-- Both tables are small, and are written as a whole.
CREATE TABLE bans (
    proxy_id TEXT NOT NULL,
    target   TEXT NOT NULL,
    until    REAL NOT NULL, -- unix seconds
    PRIMARY KEY (proxy_id, target)
) WITHOUT ROWID;

CREATE TABLE target_rests (
    target TEXT PRIMARY KEY,
    until  REAL NOT NULL, -- unix seconds
    rest   REAL NOT NULL  -- seconds; the length of the rest that the next one depends on
) WITHOUT ROWID;

-- +goose Down
DROP TABLE target_rests;
DROP TABLE bans;
