// Package storage keeps what the breakers learnt over restarts.
//
// A scraper's proxy is restarted with every deploy, and must not run back into
// proxies that were already known to be bad. So every breaker is a [Record] in
// a [Store]. But a request must never wait for a disk: between the two stands
// the [Journal], which takes the newest record of each proxy in memory and
// writes behind, in batches. A database that is locked, full or gone costs
// freshness of the file, never a request.
//
// A Journal and every Store are safe for concurrent use.
//
//	journal := storage.NewJournal(store, storage.Options{OnIncident: warn})
//	journal.Put(record, true) // returns at once; on disk within UrgentWithin
//	...
//	err := journal.Close(ctx) // writes what is left
package storage

import (
	"context"
	"time"
)

// SaltSize is the length in bytes of what [Store.Salt] returns.
const SaltSize = 32

// Store is a durable table of records, one per proxy, and of what else must
// outlive the process.
type Store interface {
	// Load returns the records of the proxies with these ids, or with nil of
	// all, as far as they make sense, in no particular order. Naming them is
	// what keeps a start quick when a million others left the lists this month.
	// A row of nonsense (somebody edited the file, a disk rotted) is left out
	// and described in skipped, one error a row: it must not keep a hundred
	// thousand good rows from being used. err is not nil only if the store as
	// a whole could not be read.
	Load(ctx context.Context, ids []string) (records []Record, skipped []error, err error)

	// Save inserts or replaces the records, all of them or, with an error,
	// none. It sets UpdatedAt, and CreatedAt of the records that are new,
	// whatever the caller put there. Of two records of one proxy the later
	// wins. An invalid record (see [Record.Validate]) fails the call.
	Save(ctx context.Context, records []Record) error

	// Prune removes the records that were not updated since olderThan and that
	// keep does not claim, and says how many. Proxies that left the list keep
	// their record for a while, because lists flap; without an end the table
	// would grow for ever. It goes in steps, between which others may write, and
	// ends with ctx between two of them: what is removed then stays removed. keep
	// must not call the store.
	Prune(ctx context.Context, olderThan time.Time, keep func(proxyID string) bool) (removed int, err error)

	// Pauses returns every pause that makes sense, in no particular order.
	Pauses(ctx context.Context) ([]Pause, error)

	// SetPause inserts or replaces the pause of a proxy. It has been stored
	// when SetPause returns: pauses are rare, and an operator waits for the
	// answer. So they do not go through the journal. An invalid pause (see
	// [Pause.Validate]) fails the call. Prune does not touch pauses.
	SetPause(ctx context.Context, pause Pause) error

	// ClearPause removes the pause of a proxy. found is false if there was none.
	ClearPause(ctx context.Context, proxyID string) (found bool, err error)

	// Audit appends a deed of an operator to a log that is never shortened. It has
	// been stored when Audit returns. An invalid deed (see [Deed.Validate]) fails
	// the call.
	Audit(ctx context.Context, deed Deed) error

	// Deeds returns the last deeds that make sense, the latest first, at most limit.
	Deeds(ctx context.Context, limit int) ([]Deed, error)

	// SaveTargets replaces all bans and all rests of targets by these, or, with
	// an error, leaves both as they were. It keeps of them what [Lasting]
	// says: targets are named by clients, and one strange name must not cost
	// the rest.
	SaveTargets(ctx context.Context, bans []Ban, rests []TargetRest) error

	// LoadTargets returns the bans and rests that make sense and are not over
	// at now, in no particular order.
	LoadTargets(ctx context.Context, now time.Time) ([]Ban, []TargetRest, error)

	// SavePins inserts or replaces the pins and removes those of the sessions
	// that are gone, all or, with an error, none. An invalid pin (see
	// [Pin.Validate]) fails the call.
	SavePins(ctx context.Context, pins []Pin, gone []string) error

	// LoadPins returns the pins that make sense and whose sessions are not over
	// at now, the latest used last, and removes those that are over.
	LoadPins(ctx context.Context, now time.Time) ([]Pin, error)

	// Salt returns SaltSize random bytes, made when first asked for and the
	// same ever after. Proxy ids are keyed with it, so that they say nothing
	// about an address or a password to who does not have the file.
	Salt(ctx context.Context) ([]byte, error)

	// Rekey makes salt the one that Salt returns. ids has the new id of each old one:
	// rows of these proxies go on under it, rows of others are removed, and so are
	// pins, since nobody knows any more whose sessions they are. All or, with an
	// error, nothing.
	Rekey(ctx context.Context, salt []byte, ids map[string]string) error

	// Close releases the store. Nothing may be called after it.
	Close() error
}
