-- +goose Up
-- INSERT OR REPLACE removes a row without asking the triggers on DELETE.
-- +goose StatementBegin
CREATE TRIGGER audit_log_is_not_replaced BEFORE INSERT ON audit_log
WHEN EXISTS (SELECT 1 FROM audit_log WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'the audit log is not rewritten'); END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER audit_log_is_not_replaced;
