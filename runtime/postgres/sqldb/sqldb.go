// Package sqldb lets a backend of package postgres use any driver for
// PostgreSQL that database/sql knows:
//
//	db, err := sql.Open("pgx", dsn)
//	...
//	backend := postgres.New(sqldb.New(db))
//
// The driver must pass a string as a parameter of any type, as all of them do,
// and report the server's code by a method SQLState, without which refused
// requests are sent a few times more than they need be. Such a backend cannot
// be notified: those who wait for another process poll.
package sqldb

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// A Querier is a *sql.DB or *sql.Conn, or a *sql.Tx.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// DB runs statements on a Querier. It implements postgres.DB.
type DB struct{ querier Querier }

// New returns a DB on q.
func New(q Querier) *DB { return &DB{querier: q} }

// Query runs a statement.
func (d *DB) Query(ctx context.Context, statement string, args ...any) (pgx.Rows, error) {
	converted := make([]any, len(args))
	for i, arg := range args {
		converted[i] = parameter(arg)
	}
	r, err := d.querier.QueryContext(ctx, statement, converted...) //nolint:rowserrcheck // the caller reads the rows
	if err != nil {
		return nil, err
	}
	return &rows{Rows: r}, nil
}

// rows is a pgx.Rows with what the backend uses of it.
type rows struct {
	*sql.Rows
}

var _ pgx.Rows = (*rows)(nil)

// errUnsupported is returned by what database/sql has no counterpart for.
var errUnsupported = errors.New("sqldb: not supported by database/sql")

// Close releases the connection. An error of it is told by Err.
func (r *rows) Close() { _ = r.Rows.Close() }

// CommandTag returns an empty tag.
func (r *rows) CommandTag() pgconn.CommandTag { return pgconn.CommandTag{} }

// FieldDescriptions returns nil.
func (r *rows) FieldDescriptions() []pgconn.FieldDescription { return nil }

// Values returns an error.
func (r *rows) Values() ([]any, error) { return nil, errUnsupported }

// RawValues returns nil.
func (r *rows) RawValues() [][]byte { return nil }

// Conn returns nil.
func (r *rows) Conn() *pgx.Conn { return nil }

// TypeMap returns nil.
func (r *rows) TypeMap() *pgtype.Map { return nil }
