-- +goose Up
-- A proxy that was busy is judged by its share of failures, and one that has
-- never worked by that. Rows from before begin both anew.
ALTER TABLE circuit_breaker_states ADD COLUMN window_json TEXT NOT NULL DEFAULT '[]'; -- array of [unix seconds, successes, failures], oldest first
ALTER TABLE circuit_breaker_states ADD COLUMN recent TEXT NOT NULL DEFAULT '';        -- last outcomes, oldest first: + success, - failure
ALTER TABLE circuit_breaker_states ADD COLUMN succeeded INTEGER NOT NULL DEFAULT 0;   -- 1: has succeeded, ever
ALTER TABLE circuit_breaker_states ADD COLUMN misses INTEGER NOT NULL DEFAULT 0;      -- failures before the first success

-- +goose Down
ALTER TABLE circuit_breaker_states DROP COLUMN misses;
ALTER TABLE circuit_breaker_states DROP COLUMN succeeded;
ALTER TABLE circuit_breaker_states DROP COLUMN recent;
ALTER TABLE circuit_breaker_states DROP COLUMN window_json;
