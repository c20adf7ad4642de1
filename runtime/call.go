package idem

import (
	"cmp"
	"context"
	"time"
)

// call is one call of a method whose key is known.
type call[T any] struct {
	store       *Store
	operation   *operation
	copy        func(T) T // nil: by decoding
	key         string
	fingerprint []byte
	fn          func(context.Context) (T, error)
	ask         func(context.Context) (v T, found bool, err error) // nil: run again without asking

	deadline time.Time     // of waiting for other processes; zero: none
	waited   time.Duration // for other processes
	landed   bool          // the call led, and its flight has landed

	// tx is the open transaction of a call in transactional mode that holds a
	// claim. If it is the caller's own, the call is private: nothing that it
	// finds or does is for others before the caller commits.
	tx      Transaction
	private bool
}

// do finds the key's outcome in this process, joins the call that leads for
// it, or leads.
func (c *call[T]) do(ctx context.Context) (v T, err error) {
	s := c.store
	if !s.calls.enter() {
		return v, c.fail(ctx, Failed, Record{}, ErrClosed)
	}
	defer s.calls.leave()
	if s.inside(ctx, c.key) {
		return v, c.fail(ctx, Failed, Record{}, ErrReentrant)
	}
	if c.operation.maxWait > 0 {
		c.deadline = time.Now().Add(c.operation.maxWait)
	}
	if c.operation.tx && s.transactor.Inside(ctx) {
		// Whom the call must wait for is for the database to see, where it is
		// a lock among others; here it could be part of a circle.
		c.private = true
		return c.lead(ctx, &flight{key: c.key, fingerprint: c.fingerprint})
	}
	sh := s.shard(c.key)
	for {
		switch b := sh.board(c.key, c.fingerprint); b.kind {
		case leads:
			return c.lead(ctx, b.flight)
		case follows:
			v, again, err := c.follow(ctx, b)
			if !again {
				return v, err
			}
		case known:
			v, final, err := c.share(b.result)
			kind := Replayed
			if err != nil {
				kind = Failed
			}
			err = cmp.Or(err, final)
			s.conclude(ctx, c.event(kind, Record{Attempt: b.result.attempt, Fence: b.result.fence}, 0, err), 0)
			return v, err
		case mismatch:
			return v, c.conflict(ctx, Record{Fingerprint: b.fingerprint, Attempt: b.result.attempt})
		case undecided:
			if err := await(ctx, b.signal); err != nil {
				return v, c.fail(ctx, Failed, Record{}, err)
			}
		}
	}
}

// await waits for a signal of the leader, which comes even if the store stops.
func await(ctx context.Context, signal <-chan struct{}) error {
	select {
	case <-signal:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// follow waits for the leader's verdict. again is set if the caller is to
// start afresh, because only the leader failed.
func (c *call[T]) follow(ctx context.Context, b boarding) (v T, again bool, err error) {
	start := time.Now()
	f := b.flight
	if in, err := c.awaitLeader(ctx, b); err != nil {
		return v, false, c.fail(ctx, Failed, Record{}, err)
	} else if !in {
		return v, false, c.fail(ctx, Rejected, Record{}, ErrInProgress)
	}
	r := Record{Attempt: f.result.attempt, Fence: f.result.fence}
	switch f.verdict {
	case stepDown:
		return v, true, nil
	case arrived:
		var final error
		v, final, err = c.share(f.result)
		err = cmp.Or(err, final)
	default:
		err = f.err
	}
	c.store.conclude(ctx, c.event(Joined, r, time.Since(start), err), 0)
	return v, false, err
}

// awaitLeader waits for the verdict, and for no longer than the method waits
// for other processes while it is one of those that the leader waits for. It
// reports false if that time is up.
func (c *call[T]) awaitLeader(ctx context.Context, b boarding) (bool, error) {
	if c.deadline.IsZero() {
		return true, await(ctx, b.signal)
	}
	timer := time.NewTimer(time.Until(c.deadline))
	defer timer.Stop()
	select {
	case <-timer.C:
		if !c.store.shard(c.key).executes(b.flight) {
			return false, nil
		}
		return true, await(ctx, b.signal)
	case <-b.signal:
		return true, nil
	case <-ctx.Done():
		return true, ctx.Err()
	}
}

// share makes the caller's own copy of an outcome.
func (c *call[T]) share(r result) (v T, final, err error) {
	if p, ok := r.value.(*T); ok && c.copy != nil {
		return c.copy(*p), r.final, nil
	}
	return decodeOutcome[T](c.operation, c.key, r.envelope)
}

// keep makes the outcome that other callers get copies of. v stays the
// leader's own.
func (c *call[T]) keep(f *flight, v T, final error, envelope []byte, r Record) result {
	kept := result{final: final, envelope: envelope, attempt: r.Attempt, fence: r.Fence}
	if c.copy != nil && !c.private && c.store.shard(c.key).wanted(f) {
		v = c.copy(v)
		kept.value = &v
	}
	return kept
}

// event describes what happened to the call.
func (c *call[T]) event(kind EventKind, r Record, d time.Duration, err error) Event {
	return Event{
		Kind: kind, Operation: c.operation.name, Key: c.key, Attempt: r.Attempt, Fence: r.Fence,
		Duration: d, Age: r.Age, Err: err,
	}
}

// fail ends the call with an error about the record that stood in the way.
func (c *call[T]) fail(ctx context.Context, kind EventKind, r Record, err error) error {
	e := c.error(r, err)
	c.store.conclude(ctx, c.event(kind, r, 0, e), c.waited)
	return e
}

func (c *call[T]) error(r Record, err error) *CallError {
	return &CallError{
		Operation: c.operation.name, Key: c.key, Attempt: r.Attempt, Age: r.Age,
		LeaseLeft: max(r.LeaseLeft, 0), Err: err,
	}
}

// conflict ends the call because the key stands for other arguments.
func (c *call[T]) conflict(ctx context.Context, r Record) error {
	e := c.error(r, ErrKeyReused)
	if i, ok := differing(r.Fingerprint, c.fingerprint); ok {
		e.Argument = nameAt(c.operation.arguments, i)
	}
	c.store.conclude(ctx, c.event(Conflicted, r, 0, e), c.waited)
	return e
}
