// Package migrations holds the schema of the state database as numbered SQL
// files in goose's format.
//
// The files are embedded, so that the program carries its schema with it and a
// deployment is one file. A file that was released is never edited: a change of
// the schema is the next number.
//
// FS is immutable and safe for concurrent use:
//
//	provider, err := goose.NewProvider(goose.DialectSQLite3, db, migrations.FS)
package migrations

import "embed"

// FS holds the migrations, NNNNN_what_it_does.sql, at its root.
//
//go:embed *.sql
var FS embed.FS
