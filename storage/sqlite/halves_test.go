package sqlite

import (
	"fmt"
	"strings"
	"testing"

	"swivel/storage"
	"swivel/storage/storetest"
)

// contents is all that the tables hold.
func contents(t *testing.T, store *Store) string {
	t.Helper()
	var b strings.Builder
	for _, table := range []string{"circuit_breaker_states", "pauses", "bans", "target_rests", "session_pins", "meta", "audit_log"} {
		rows, err := store.db.Query("SELECT * FROM " + table + " ORDER BY 1, 2")
		if err != nil {
			t.Fatal(err)
		}
		columns, _ := rows.Columns()
		for rows.Next() {
			values := make([]any, len(columns))
			into := make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			_, _ = fmt.Fprintln(&b, table, values)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// What belongs together is written together: bans without the rests beside them, or
// ids of one salt beside rows of another, would be worse than the old ones.
func TestNothingIsWrittenByHalves(t *testing.T) {
	ctx := t.Context()
	writes := map[string]func(*Store) error{
		"pins": func(s *Store) error {
			return s.SavePins(ctx, []storage.Pin{storetest.Pin("s1", "b"), storetest.Pin("s3", "b")}, []string{"s2"})
		},
		"targets": func(s *Store) error {
			return s.SaveTargets(ctx, []storage.Ban{storetest.Ban("b", "y:1")}, []storage.TargetRest{storetest.Rest("y:1")})
		},
		"rekey": func(s *Store) error {
			return s.Rekey(ctx, []byte(strings.Repeat("n", storage.SaltSize)), map[string]string{"a": "z"}) // b has no other id
		},
		"pause": func(s *Store) error { _, err := s.ClearPause(ctx, "a"); return err },
		"states": func(s *Store) error {
			return s.Save(ctx, []storage.Record{storetest.Record("a"), storetest.Record("c")})
		},
	}
	for _, c := range []struct{ write, fails string }{
		{"pins", "INSERT ON session_pins WHEN NEW.session_id = 's3'"},
		{"pins", "DELETE ON session_pins WHEN OLD.session_id = 's2'"},
		{"targets", "DELETE ON bans"}, {"targets", "INSERT ON bans"},
		{"targets", "DELETE ON target_rests"}, {"targets", "INSERT ON target_rests"},
		{"rekey", "UPDATE ON circuit_breaker_states"}, {"rekey", "DELETE ON circuit_breaker_states"},
		{"rekey", "UPDATE ON pauses"}, {"rekey", "UPDATE ON bans"},
		{"rekey", "DELETE ON session_pins"}, {"rekey", "INSERT ON meta"},
		{"pause", "DELETE ON pauses"},
		{"states", "INSERT ON circuit_breaker_states WHEN NEW.proxy_id = 'c'"},
	} {
		t.Run(c.write+" "+c.fails, func(t *testing.T) {
			store, _ := mustOpen(t, tempPath(t))
			mustSave(t, store, storetest.Record("a"), storetest.Record("b"))
			for _, err := range []error{
				store.SetPause(ctx, storetest.Pause("a")),
				store.SaveTargets(ctx, []storage.Ban{storetest.Ban("a", "x:1")}, []storage.TargetRest{storetest.Rest("x:1")}),
				store.SavePins(ctx, []storage.Pin{storetest.Pin("s1", "a"), storetest.Pin("s2", "a")}, nil),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if _, err := store.Salt(ctx); err != nil {
				t.Fatal(err)
			}
			before := contents(t, store)
			mustExec(t, store.db, "CREATE TRIGGER fails BEFORE "+c.fails+" BEGIN SELECT RAISE(ABORT, 'no'); END")
			if err := writes[c.write](store); err == nil || !strings.Contains(err.Error(), store.path) {
				t.Errorf("err = %v, want one that names the file", err)
			}
			if after := contents(t, store); after != before {
				t.Errorf("there was\n%s\nthere is\n%s", before, after)
			}
			mustExec(t, store.db, "DROP TRIGGER fails")
			if err := writes[c.write](store); err != nil {
				t.Errorf("again: %v", err)
			}
			if contents(t, store) == before {
				t.Error("nothing was written then")
			}
		})
	}
}

// One edited row must not cost the others: neither a session its proxy nor an
// operator the log.
func TestNonsenseCostsNoOtherPinOrDeed(t *testing.T) {
	store, _ := mustOpen(t, tempPath(t))
	sound := storetest.Pin(strings.Repeat("0", 32), "a")
	if err := store.SavePins(t.Context(), []storage.Pin{sound}, nil); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		"session_pins VALUES (x'00', 'a', 1780000000, 600)",
		"session_pins VALUES ('text', 'a', 'yesterday', 600)",
		"session_pins VALUES ('time', 'a', 1780000000000, 600)",
		"session_pins VALUES ('ttl', 'a', 1780000000, -1)",
		"session_pins VALUES ('proxy', 'u:s3cret@h', 1780000000, 600)",
		"audit_log (at, caller, action, subject, input) VALUES (1780000000, 'alice', 'pause', 'a', 'why')",
		"audit_log (at, caller, action, subject, input) VALUES ('yesterday', 'alice', 'pause', 'a', 'why')",
		"audit_log (at, caller, action, subject, input) VALUES (1780000000, x'00', 'pause', 'a', 'why')",
		"audit_log (at, caller, action, subject, input) VALUES (9e999, 'alice', 'pause', 'a', 'why')",
	} {
		mustExec(t, store.db, "INSERT INTO "+row)
	}
	if pins, err := store.LoadPins(t.Context(), storetest.Epoch); err != nil || len(pins) != 1 || pins[0].SessionID != sound.SessionID {
		t.Errorf("pins %+v, %v", pins, err)
	}
	if deeds, err := store.Deeds(t.Context(), 10); err != nil || len(deeds) != 1 || deeds[0].Caller != "alice" {
		t.Errorf("deeds %+v, %v", deeds, err)
	}
}
