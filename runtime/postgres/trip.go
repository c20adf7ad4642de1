package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// A serial is a DB that is used by one caller at a time.
type serial struct {
	mu sync.Mutex
	db DB
}

// Query keeps the connection until the rows are closed.
func (s *serial) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	s.mu.Lock()
	rows, err := s.db.Query(ctx, sql, args...)
	if err != nil {
		s.mu.Unlock()
		return rows, err
	}
	return &serialRows{Rows: rows, unlock: sync.OnceFunc(s.mu.Unlock)}, nil
}

type serialRows struct {
	pgx.Rows
	unlock func()
}

func (r *serialRows) Close() {
	r.Rows.Close()
	r.unlock()
}

// detached runs f to its end, whatever becomes of ctx: a connection that is
// interrupted in the middle of a statement is lost. It returns when f does or
// ctx ends.
func detached[A any](ctx context.Context, timeout time.Duration, f func(context.Context) (A, error)) (A, error) {
	type answer struct {
		value A
		err   error
	}
	if err := ctx.Err(); err != nil {
		var none A
		return none, err
	}
	answers := make(chan answer, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
		defer cancel()
		a, err := f(ctx)
		answers <- answer{a, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var none A
		return none, ctx.Err()
	}
}

// maxSends bounds how often a request is sent that a broken connection or an
// unlucky transaction has kept from being answered. All requests may be sent
// again: that is what their owners and fences are for.
const maxSends = 3

// query runs a statement and scans its rows. It sends the statement again
// where that can help; begin is called before each time.
func query(ctx context.Context, db DB, sql string, args []any, begin func(), scan func(pgx.Rows) error) error {
	var err error
	for range maxSends {
		begin()
		if err = queryOnce(ctx, db, sql, args, scan); err == nil || !passing(err) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

func queryOnce(ctx context.Context, db DB, sql string, args []any, scan func(pgx.Rows) error) error {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	rows.Close()
	return rows.Err()
}

// sqlState returns the code with which the server answered, or "" if the error
// came from elsewhere. Drivers other than pgx have the method, too.
func sqlState(err error) string {
	var answer interface{ SQLState() string }
	if errors.As(err, &answer) {
		return answer.SQLState()
	}
	return ""
}

// Codes that the server answers with.
const (
	lockNotAvailable     = "55P03"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	featureNotSupported  = "0A000" // a prepared statement whose table has changed
	unknownStatement     = "26000" // a prepared statement of another session
	duplicateStatement   = "42P05"
)

// passing reports whether err may not come again if the same is sent again.
func passing(err error) bool {
	if errors.Is(err, errUnreadable) {
		return false
	}
	switch code := sqlState(err); code {
	case "", serializationFailure, deadlockDetected, featureNotSupported, unknownStatement, duplicateStatement:
		return true
	default:
		return goingDown(code)
	}
}

// goingDown reports whether the server ended the connection, so that whatever
// it was doing may have happened or not.
func goingDown(code string) bool { return len(code) == 5 && (code[:2] == "08" || code[:3] == "57P") }

// refused reports whether the server has looked at the requests of a statement
// and said no to one of them, or what it says of one of them is no answer.
func refused(err error) bool {
	if errors.Is(err, errUnreadable) || errors.Is(err, errRestless) {
		return true
	}
	code := sqlState(err)
	return code != "" && !goingDown(code)
}
