package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idem/runtime/postgres"
)

// Tx is what a method in transactional mode may do in its transaction: all of
// *sql.Tx except to end it.
type Tx interface {
	Querier
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// WithTx is postgres.WithTx for a transaction of database/sql.
func WithTx(ctx context.Context, tx *sql.Tx) context.Context {
	return postgres.WithTx(ctx, &transaction{DB: New(tx), tx: tx})
}

// TxFrom is postgres.TxFrom for a backend on database/sql.
func TxFrom(ctx context.Context) (tx Tx, ok bool) {
	carried, _ := postgres.Carried(ctx)
	t, ok := carried.(*transaction)
	if !ok {
		return nil, false
	}
	return t.tx, true
}

var levels = map[pgx.TxIsoLevel]sql.IsolationLevel{
	"":                  sql.LevelDefault,
	pgx.ReadUncommitted: sql.LevelReadUncommitted,
	pgx.ReadCommitted:   sql.LevelReadCommitted,
	pgx.RepeatableRead:  sql.LevelRepeatableRead,
	pgx.Serializable:    sql.LevelSerializable,
}

// Beginning implements postgres.Beginner. Only a *sql.DB can begin
// transactions beside its other work.
func (d *DB) Beginning(level pgx.TxIsoLevel) (func(context.Context) (postgres.Tx, error), error) {
	db, ok := d.querier.(*sql.DB)
	if !ok {
		return nil, errors.New("sqldb: a single connection cannot begin transactions beside its other work: use a *sql.DB")
	}
	isolation, ok := levels[level]
	if !ok {
		return nil, fmt.Errorf("sqldb: unknown isolation level %q", level)
	}
	return func(ctx context.Context) (postgres.Tx, error) {
		// The context ends the wait for a connection, but not the transaction,
		// as that of BeginTx would.
		conn, err := db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		tx, err := conn.BeginTx(context.WithoutCancel(ctx), &sql.TxOptions{Isolation: isolation})
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		return &transaction{DB: New(tx), tx: tx, conn: conn}, nil
	}, nil
}

// transaction is a postgres.Tx.
type transaction struct {
	*DB
	tx   *sql.Tx
	conn *sql.Conn // to give back; nil if the caller began the transaction
}

func (t *transaction) Commit(context.Context) error   { return t.end(t.tx.Commit) }
func (t *transaction) Rollback(context.Context) error { return t.end(t.tx.Rollback) }

func (t *transaction) end(end func() error) error {
	err := end()
	_ = t.conn.Close() // fails only if the connection is lost, as end says then
	return err
}
