package idem

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// While a transaction holds a key, others see nothing of it: they wait for its
// lock, longestPatience at a time, so that no connection waits for long.
// Methods that do not wait ask for as long as a lock that has nothing to do
// with the key could take.
const (
	longestPatience  = time.Second
	shortestPatience = 20 * time.Millisecond
)

// transactional says why methods cannot run in transactional mode, if so.
func (s *Store) transactional() error {
	if s.transactor == nil {
		return fmt.Errorf("the backend %T cannot keep a record in a transaction", s.backend)
	}
	return s.transactor.Transactional()
}

// A grant is the answer to a claim in a transaction, and that transaction if
// the claim was won.
type grant struct {
	answer ClaimResult
	tx     Transaction
}

// claim asks for r in the way of the method's mode. A transaction that holds
// the claim is in c.tx from then on.
func (c *call[T]) claim(ctx context.Context, r ClaimRequest) (ClaimResult, error) {
	s, o := c.store, c.operation
	if !o.tx {
		return s.claim(ctx, r)
	}
	mark := len(o.finals) > 0
	var g grant
	var err error
	if c.private {
		g, err = s.grant(ctx, r, 0, mark)
	} else {
		g, err = detach(ctx, s, func() (grant, error) {
			return s.grantTwice(ctx, r, c.patience(), mark)
		}, func(g grant) {
			if g.tx != nil {
				g.tx.Rollback(ctx)
			}
		})
	}
	c.tx = g.tx
	return g.answer, s.gaveUp(err)
}

func (c *call[T]) patience() time.Duration {
	switch {
	case c.operation.reject:
		return shortestPatience
	case c.deadline.IsZero():
		return longestPatience
	default:
		return max(shortestPatience, min(time.Until(c.deadline), longestPatience))
	}
}

// grantTwice begins a transaction and claims in it, and once more if that
// failed: nothing is left of the first then.
func (s *Store) grantTwice(ctx context.Context, r ClaimRequest, patience time.Duration, mark bool) (g grant, err error) {
	for range 2 {
		attempt, cancel := s.detached(ctx)
		stop := context.AfterFunc(s.background, cancel)
		g, err = s.grant(attempt, r, patience, mark)
		stop()
		cancel()
		if err == nil {
			break
		}
	}
	return g, err
}

func (s *Store) grant(ctx context.Context, r ClaimRequest, patience time.Duration, mark bool) (g grant, err error) {
	tx, err := s.transactor.Begin(ctx)
	if err != nil {
		return g, err
	}
	won := false
	defer func() {
		if err != nil || !won {
			g.tx = nil
		}
		if err != nil {
			tx.Rollback(ctx)
		}
	}()
	g = grant{tx: tx}
	g.answer, err = tx.Claim(ctx, r, patience)
	won = g.answer.Status == ClaimWon
	if err == nil && won && mark {
		err = tx.Mark(ctx)
	}
	return g, err
}

// commit records the outcome of a method and ends its transaction, if
// everything of it is kept. Of a final error only the record is kept.
func (c *call[T]) commit(ctx context.Context, completion Completion, final bool) error {
	ctx, cancel := c.store.detached(ctx)
	defer cancel()
	action := "complete"
	err := func() error {
		if final {
			if err := c.tx.Discard(ctx); err != nil {
				return err
			}
		}
		held, err := c.tx.Complete(ctx, completion)
		if err != nil {
			return err
		}
		if !held {
			return errors.New("the claim is no longer in the transaction")
		}
		action = "commit"
		return c.tx.Commit(ctx)
	}()
	if err != nil {
		c.rollback(ctx)
		return &BackendError{Operation: c.operation.name, Key: c.key, Action: action, Err: c.store.gaveUp(err)}
	}
	c.tx = nil
	return nil
}

// rollback undoes the transaction of the call, if it has an open one.
func (c *call[T]) rollback(ctx context.Context) {
	if c.tx != nil {
		c.tx.Rollback(ctx)
		c.tx = nil
	}
}

// undone ends a call whose method ran in a transaction that is not kept.
func (c *call[T]) undone(ctx context.Context, f *flight, x *execution, took time.Duration, err error) {
	kind := Released
	if IsUncertain(err) {
		kind = Uncertained
	}
	c.store.leases.drop(x)
	c.store.conclude(ctx, c.event(kind, x.record(), took, err), c.waited)
	c.landFailed(ctx, f, err)
}

// gaveUp marks err with ErrSerialization if it is of that kind.
func (s *Store) gaveUp(err error) error {
	if err == nil || s.transactor == nil || !s.transactor.GaveUp(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrSerialization, err)
}

// transacted returns fn in a transaction, without a claim.
func transacted[T any](s *Store, o *operation, fn func(context.Context) (T, error)) func(context.Context) (T, error) {
	return func(ctx context.Context) (v T, err error) {
		var zero T
		failed := func(action string, err error) (T, error) {
			return zero, &BackendError{Operation: o.name, Action: action, Err: s.gaveUp(err)}
		}
		detached, cancel := s.detached(ctx)
		tx, err := s.transactor.Begin(detached)
		cancel()
		if err != nil {
			return failed("begin", err)
		}
		defer tx.Rollback(ctx)
		v, err = fn(tx.Context(ctx))
		if err != nil {
			return v, s.gaveUp(err)
		}
		detached, cancel = s.detached(ctx)
		defer cancel()
		if err := tx.Commit(detached); err != nil {
			return failed("commit", err)
		}
		return v, nil
	}
}
