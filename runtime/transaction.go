package idem

import (
	"context"
	"time"
)

// A Transactor is a Backend that can keep the record of a method in the same
// transaction as the method's own effects, so that claim, effects and result
// come to be together or not at all. Methods with MethodOptions.Tx need one.
type Transactor interface {
	// Transactional returns nil if Begin can be expected to work, and
	// otherwise what stands in its way. NewMethod asks it.
	Transactional() error

	// Inside reports whether ctx carries a transaction.
	Inside(ctx context.Context) bool

	// Begin returns the transaction that ctx carries, as a part of it that can
	// be undone by itself, or begins a transaction.
	Begin(ctx context.Context) (Transaction, error)

	// GaveUp reports whether err, which is the backend's or a method's, says
	// that the database gave up a transaction because of a concurrent one, so
	// that the whole of it can be made again.
	GaveUp(err error) bool
}

// A Transaction keeps one claim. It is for one goroutine at a time, and ends
// with Commit or Rollback, or with a Claim that does not win. Its methods leave
// nothing half done, either: if one of them fails, Rollback must follow.
type Transaction interface {
	// Claim is Backend.Claim. If another transaction holds the
	// key, Claim waits until that has ended, for about as long as patience
	// lasts, and then answers ClaimPending. In the caller's own transaction it
	// waits for as long as that does for any lock. A Claim that does not win,
	// and does not fail, ends the transaction.
	Claim(ctx context.Context, r ClaimRequest, patience time.Duration) (ClaimResult, error)

	// Context returns ctx with the transaction, for the method.
	Context(ctx context.Context) context.Context

	// Mark makes Discard return to this point.
	Mark(ctx context.Context) error

	// Discard undoes what was done since Mark, but keeps the claim.
	Discard(ctx context.Context) error

	// Complete is Backend.Complete.
	Complete(ctx context.Context, c Completion) (held bool, err error)

	// Commit makes what was done last, or leaves it to the caller's own
	// transaction. A commit that fails has undone everything, unless its error
	// is Uncertain: then even asking the database did not tell.
	Commit(ctx context.Context) error

	// Rollback undoes everything, also after ctx has ended. A transaction whose
	// connection is lost is undone by the database.
	Rollback(ctx context.Context)
}
