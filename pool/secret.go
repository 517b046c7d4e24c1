package pool

import (
	"fmt"
	"io"
)

// redacted is what a Secret prints as, whatever it holds: even an empty one
// must not tell that it is empty.
const redacted = "REDACTED"

// Secret is a password: it prints as "REDACTED" everywhere, so that no log
// line, error, JSON document or %v can leak it. Reveal gives the value. The
// zero value is an empty password.
//
// Two gaps are left: fmt cannot call methods on what it reaches through an
// unexported struct field, and encoding/json takes a map's key of kind string
// as it is. So print no struct that hides one, and make no key of one.
type Secret string

// Reveal returns the secret itself, for the wire only.
func (s Secret) Reveal() string { return string(s) }

// String returns "REDACTED".
func (s Secret) String() string { return redacted }

// GoString returns "REDACTED".
func (s Secret) GoString() string { return redacted }

// Format prints "REDACTED" for every verb: %x or %q of a plain Stringer would
// be fine too, %d would print the characters inside an error note.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalJSON returns "REDACTED" as a JSON string; it never fails.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText returns "REDACTED"; it never fails. It covers YAML and XML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
