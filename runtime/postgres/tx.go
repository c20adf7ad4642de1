package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// A Tx is what transactional mode needs of a transaction. pgx.Tx is one, and
// package sqldb makes one of a *sql.Tx.
type Tx interface {
	DB
	Commit(ctx context.Context) error
	Rollback(ctx context.Context) error
}

// A Beginner is a DB that begins transactions, and that is no pgx.Tx. The one
// of package sqldb is such.
type Beginner interface {
	DB
	// Beginning returns a function that begins transactions of an isolation
	// level, or of the database's own choice if that is empty, and otherwise
	// why there is none. The transaction must not end with the context.
	Beginning(level pgx.TxIsoLevel) (begin func(context.Context) (Tx, error), err error)
}

// beginning returns what begins transactions on db.
func beginning(db DB, level pgx.TxIsoLevel) (func(context.Context) (Tx, error), error) {
	switch c := db.(type) {
	case *serial:
		return nil, errors.New("postgres: a single connection cannot begin transactions beside its other work: use a *pgxpool.Pool")
	case Beginner:
		return c.Beginning(level)
	case interface {
		BeginTx(context.Context, pgx.TxOptions) (pgx.Tx, error)
	}:
		return func(ctx context.Context) (Tx, error) {
			return c.BeginTx(ctx, pgx.TxOptions{IsoLevel: level})
		}, nil
	default:
		return nil, errors.New("postgres: the DB that the backend was made with cannot begin transactions: use a *pgxpool.Pool")
	}
}

// WithTx returns a context with a transaction of the caller's own. Methods in
// transactional mode (//idem:tx) that are called with it claim their key, run
// and record their result in this transaction, so that all of it comes to be
// when the caller commits, or not at all. The caller must not use tx while such
// a method runs, except within the method.
//
//	tx, err := pool.Begin(ctx)
//	...
//	receipt, err := payments.Charge(postgres.WithTx(ctx, tx), req)
//	...
//	err = tx.Commit(ctx)
//
// A method that fails is undone up to where it began; what the caller did
// before stays, and tx can be used further. If the error is an
// idem.ErrSerialization, all of tx must be rolled back and made again.
func WithTx(ctx context.Context, tx Tx) context.Context {
	return context.WithValue(ctx, carriedKey{}, carried{tx: tx})
}

// TxFrom returns the transaction of the method in transactional mode that ctx
// was given to: what is done in it is committed with the method's result. The
// method must not end it, and so its Commit and Rollback return an error. ok
// is false outside of such a method, and on package sqldb, which has a TxFrom
// of its own.
func TxFrom(ctx context.Context) (tx pgx.Tx, ok bool) {
	t, _ := Carried(ctx)
	tx, ok = t.(pgx.Tx)
	if !ok {
		return nil, false
	}
	return methodTx{tx}, true
}

// Carried returns the transaction that ctx carries, whatever its kind. It is
// for adapters such as package sqldb; methods use TxFrom.
func Carried(ctx context.Context) (tx Tx, ok bool) {
	c, ok := ctx.Value(carriedKey{}).(carried)
	return c.tx, ok
}

type carriedKey struct{}

// carried is a transaction in a context.
type carried struct {
	tx      Tx
	backend *Backend // that began it; nil: the caller did
}

var errNotYours = errors.New("postgres: the transaction ends after the method has returned, with its result: return an error to undo it")

// methodTx is a transaction in the hands of a method.
type methodTx struct{ pgx.Tx }

func (methodTx) Commit(context.Context) error   { return errNotYours }
func (methodTx) Rollback(context.Context) error { return errNotYours }
