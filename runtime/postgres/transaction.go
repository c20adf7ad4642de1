package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	idem "github.com/idemgen/idem/runtime"
)

var _ idem.Transactor = (*Backend)(nil)

// Transactional implements idem.Transactor.
func (b *Backend) Transactional() error { return b.cannotBegin }

// Inside implements idem.Transactor. A transaction that another backend has
// begun counts if it is on the same database.
func (b *Backend) Inside(ctx context.Context) bool {
	c, ok := ctx.Value(carriedKey{}).(carried)
	return ok && (c.backend == nil || c.backend == b || b.comparable && c.backend.db == b.db)
}

// Begin implements idem.Transactor. It takes one round trip.
func (b *Backend) Begin(ctx context.Context) (idem.Transaction, error) {
	if b.Inside(ctx) {
		t := &transaction{backend: b, joined: true}
		t.tx, _ = Carried(ctx)
		if err := t.exec(ctx, "SAVEPOINT "+callSavepoint); err != nil {
			return nil, err
		}
		return t, nil
	}
	tx, err := b.begin(ctx)
	if err != nil {
		return nil, err
	}
	return &transaction{backend: b, tx: tx}, nil
}

// GaveUp implements idem.Transactor: of serialization failures and deadlocks.
func (b *Backend) GaveUp(err error) bool {
	code := sqlState(err)
	return code == serializationFailure || code == deadlockDetected
}

// Savepoints: of a call in the caller's own transaction, and of what a method
// does. Where calls nest, so do the savepoints, and a name means the inner one.
const (
	callSavepoint    = "idem_call"
	effectsSavepoint = "idem_effects"
)

// transaction is one that the backend began, or a part of the caller's.
type transaction struct {
	backend *Backend
	tx      Tx
	joined  bool // the caller's
	over    bool

	request idem.ClaimRequest // that won
	fence   idem.Fence
}

// lockedPause is when to try again for a key that another transaction holds.
// Only trying shows what became of that.
const lockedPause = 100 * time.Millisecond

// Claim implements idem.Transaction. It takes one round trip, and another two
// if somebody drew a fence meanwhile. Of a key that another transaction holds
// nothing is known before that has ended.
func (t *transaction) Claim(ctx context.Context, r idem.ClaimRequest, patience time.Duration) (idem.ClaimResult, error) {
	for range maxAsks {
		result, latest, err := t.ask(ctx, r, patience)
		if sqlState(err) == lockNotAvailable {
			t.Rollback(ctx)
			locked := lockedResult
			locked.Record.LeaseLeft = lockedPause
			return locked, nil
		}
		if err != nil {
			return result, err
		}
		switch result.Status {
		case 0:
			// The lock timeout is not as it was: see tryLock.
			if err := t.beginAgain(ctx); err != nil {
				return result, err
			}
			continue
		case idem.ClaimWon:
			t.request, t.fence = r, result.Record.Fence
			if latest > int64(t.fence) {
				if err := t.redraw(ctx); err != nil {
					return result, err
				}
				result.Record.Fence = t.fence
			}
			return result, nil
		default:
			// Commits the note that somebody waits.
			return result, t.Commit(ctx)
		}
	}
	return idem.ClaimResult{}, fmt.Errorf("postgres: %s: %w", storedKey(r.Key), errRestless)
}

// ask sends the claim once. The status is 0 if the row changed between being
// read and being written. latest is the last fence that anybody drew.
func (t *transaction) ask(ctx context.Context, r idem.ClaimRequest, patience time.Duration) (result idem.ClaimResult, latest int64, err error) {
	c := claimant{ClaimRequest: &r, key: storedKey(r.Key)}
	_, args := claimArguments(&t.backend.sql, []claimant{c})
	text := t.backend.sql.claimJoined
	if !t.joined {
		text = t.backend.sql.claimTx
		args = append(args, strconv.FormatInt(max(1, patience.Milliseconds()), 10))
	}
	err = queryOnce(ctx, t.tx, text, args, func(rows pgx.Rows) error {
		a := claimAnswer{n: 1}
		if err := rows.Scan(append(a.fields(), &latest)...); err != nil {
			return err
		}
		var err error
		result, err = a.judge(c)
		return err
	})
	return result, latest, err
}

func (t *transaction) beginAgain(ctx context.Context) error {
	if t.joined {
		return nil
	}
	if err := t.tx.Rollback(ctx); err != nil {
		return err
	}
	tx, err := t.backend.begin(ctx)
	if err != nil {
		return err
	}
	t.tx = tx
	return nil
}

// redraw takes a new fence. The one that the claim drew may be older than that
// of an execution for which it then waited, and which is undone, but which
// systems downstream have seen.
func (t *transaction) redraw(ctx context.Context) error {
	drawn := false
	err := queryOnce(ctx, t.tx, t.backend.sql.redraw, []any{storedKey(t.request.Key), int64(t.fence)}, func(rows pgx.Rows) error {
		drawn = true
		return rows.Scan(&t.fence)
	})
	if err == nil && !drawn {
		err = errors.New("postgres: a row that the transaction holds has gone")
	}
	return err
}

// Context implements idem.Transaction.
func (t *transaction) Context(ctx context.Context) context.Context {
	c := carried{tx: t.tx}
	if !t.joined {
		c.backend = t.backend
	}
	return context.WithValue(ctx, carriedKey{}, c)
}

// Mark implements idem.Transaction.
func (t *transaction) Mark(ctx context.Context) error {
	return t.exec(ctx, "SAVEPOINT "+effectsSavepoint)
}

// Discard implements idem.Transaction.
func (t *transaction) Discard(ctx context.Context) error {
	return t.exec(ctx, "ROLLBACK TO SAVEPOINT "+effectsSavepoint)
}

// Complete implements idem.Transaction. It takes one round trip.
func (t *transaction) Complete(ctx context.Context, c idem.Completion) (held bool, err error) {
	order := []placed{{key: storedKey(c.Key), fence: c.Fence}}
	args := []any{order[0].key, int64(c.Fence), c.Result, keptMicros(c.TTL)}
	err = queryOnce(ctx, t.tx, t.backend.sql.completeTx, args, func(pgx.Rows) error {
		held = true
		return nil
	})
	return held, err
}

// Commit implements idem.Transaction. If the answer is lost, it asks what
// became of the transaction for as long as WithTimeout says.
func (t *transaction) Commit(ctx context.Context) error {
	if t.joined {
		err := t.exec(ctx, "RELEASE SAVEPOINT "+callSavepoint)
		t.over = err == nil
		return err
	}
	t.over = true
	err := t.tx.Commit(ctx)
	code := sqlState(err)
	if err == nil || errors.Is(err, pgx.ErrTxCommitRollback) || code != "" && !goingDown(code) {
		return err
	}
	return t.inquire(ctx, err)
}

// Rollback implements idem.Transaction.
func (t *transaction) Rollback(ctx context.Context) {
	if t.over {
		return
	}
	t.over = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.backend.timeout)
	defer cancel()
	// An error means that the connection is lost, and all of the transaction.
	if !t.joined {
		_ = t.tx.Rollback(ctx)
		return
	}
	if t.exec(ctx, "ROLLBACK TO SAVEPOINT "+callSavepoint) == nil {
		_ = t.exec(ctx, "RELEASE SAVEPOINT "+callSavepoint)
	}
}

func (t *transaction) exec(ctx context.Context, statement string) error {
	return queryOnce(ctx, t.tx, statement, nil, func(pgx.Rows) error { return nil })
}
