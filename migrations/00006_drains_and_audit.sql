-- +goose Up
ALTER TABLE pauses ADD COLUMN drain INTEGER NOT NULL DEFAULT 0; -- 1: put aside to run dry

-- What operators had done, in order. Nothing here is ever changed or removed.
CREATE TABLE audit_log (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at      REAL NOT NULL, -- unix seconds
    caller  TEXT NOT NULL, -- the name that was given, and the address
    action  TEXT NOT NULL, -- pause, resume, drain, reload
    subject TEXT NOT NULL, -- the id of a proxy, or tag:NAME; '' for all
    input   TEXT NOT NULL  -- the reason that was given
);

-- +goose StatementBegin
CREATE TRIGGER audit_log_is_not_rewritten BEFORE UPDATE ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log is not rewritten'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_log_is_not_shortened BEFORE DELETE ON audit_log
BEGIN SELECT RAISE(ABORT, 'the audit log is not shortened'); END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE audit_log;
ALTER TABLE pauses DROP COLUMN drain;
