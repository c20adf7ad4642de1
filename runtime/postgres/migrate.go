package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Migrations holds the schema as numbered SQL files under the default names:
// in the folder migrations as golang-migrate and atlas read them, and in
// migrations/goose the same for goose.
//
//go:embed migrations
var Migrations embed.FS

// ups are the migrations in order: the first brings an empty database to
// version 1.
var ups = []string{"0001_records.up.sql"}

// ErrNewerSchema is returned by Migrate if the table was made by a newer
// version of this package than the program's.
var ErrNewerSchema = errors.New("postgres: the schema is newer than this program")

// newerSchema is the code with which the server reports ErrNewerSchema: of a
// class that PostgreSQL leaves to its users.
const newerSchema = "ID001"

// Migrate brings the schema of the database to the version that this package
// needs. It does nothing if that is so already, and never deletes records. Any
// number of processes may call it at once. Whoever applies Migrations with a
// tool does not need it, but may call it: both keep the version in the same
// table.
//
// The connection's role must be allowed to create tables in the schema.
// Migrate makes the schema that WithSchema names, if there is none.
func Migrate(ctx context.Context, db DB, opts ...Option) error {
	statement, err := migration(newOptions(opts).names)
	if err != nil {
		return err
	}
	err = queryOnce(ctx, db, statement, nil, func(pgx.Rows) error { return nil })
	switch {
	case sqlState(err) == newerSchema:
		return fmt.Errorf("%w: %w", ErrNewerSchema, err)
	case err != nil:
		return fmt.Errorf("postgres: migrate: %w", err)
	}
	return nil
}

// migration returns one statement that does it all. It is a transaction by
// itself, on any kind of connection, and holds a lock against others like it.
func migration(n names) (string, error) {
	var b strings.Builder
	version := n.qualified("_schema")
	fmt.Fprintf(&b, "DECLARE present integer := 0;\nBEGIN\nPERFORM pg_advisory_xact_lock(%d);\n", n.lock())
	if n.schema != "" {
		schema := pgx.Identifier{n.schema}.Sanitize()
		fmt.Fprintf(&b, "IF to_regnamespace(%s) IS NULL THEN CREATE SCHEMA %s; END IF;\n", literal(schema), schema)
	}
	fmt.Fprintf(&b, "IF to_regclass(%s) IS NOT NULL THEN SELECT max(version) INTO present FROM %s; END IF;\n",
		literal(version), version)
	fmt.Fprintf(&b, "IF present > %d THEN RAISE EXCEPTION USING ERRCODE = '%s', "+
		"MESSAGE = 'the schema has version ' || present || ', and this program knows %[1]d'; END IF;\n",
		len(ups), newerSchema)
	for i, file := range ups {
		text, err := Migrations.ReadFile("migrations/" + file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "IF present < %d THEN\n%s\nEND IF;\n", i+1, n.render(string(text)))
	}
	b.WriteString("END\n")
	quote := "$idem$"
	for i := 0; strings.Contains(b.String(), quote); i++ {
		quote = fmt.Sprintf("$idem%d$", i)
	}
	return "DO " + quote + "\n" + b.String() + quote, nil
}

// lock returns the number of the advisory lock that keeps migrations apart.
func (n names) lock() int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("github.com/idemgen/idem " + n.schema + "." + n.table))
	return int64(h.Sum64())
}
