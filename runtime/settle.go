package idem

import (
	"context"
	"time"
)

// settle records the result of an execution that succeeded, which took the
// given time, and returns what its caller gets.
func (c *call[T]) settle(ctx context.Context, f *flight, x *execution, v T, took time.Duration) (T, error) {
	s := c.store
	x.cancel(context.Canceled)
	r := Record{Attempt: x.attempt, Fence: x.fence}
	envelope, encodeErr := encodeResult(v, s.options.resultLimit)
	completion := Completion{Key: c.key, Fence: x.fence, Result: envelope, TTL: c.operation.ttl}

	sent := time.Now()
	detached, cancel := s.detached(ctx)
	held, err := s.backend.Complete(detached, completion)
	cancel()

	kept := c.keep(f, v, envelope, r)
	switch {
	case err != nil:
		err = &BackendError{Operation: x.operation, Key: x.key, Action: "complete", Err: err}
		s.observe(ctx, c.event(Unsettled, r, 0, err))
		s.conclude(ctx, c.event(Executed, r, took, encodeErr), c.waited)
		s.shard(c.key).land(f, arrived, kept, nil, true)
		c.settleLater(ctx, f, x, completion, kept)
	case !held:
		s.leases.drop(x)
		return c.obey(ctx, f, x, v, nil, kept)
	default:
		s.leases.drop(x)
		if encodeErr == nil {
			s.remember(c.key, c.fingerprint, kept, sent, completion.TTL)
		}
		s.conclude(ctx, c.event(Executed, r, took, encodeErr), c.waited)
		c.land(f, arrived, kept, nil)
	}
	if s.options.strict && encodeErr == nil {
		return decodeResult[T](c.operation.name, c.key, envelope)
	}
	return v, nil
}

// settleLater records a result in the background. Until that is done the claim
// stays renewed, and the flight stays, so that this process replays the result.
func (c *call[T]) settleLater(ctx context.Context, f *flight, x *execution, completion Completion, kept result) {
	s := c.store
	ctx = context.WithoutCancel(ctx)
	event := c.event(Settled, Record{Attempt: x.attempt, Fence: x.fence}, 0, nil)
	over := func(kind EventKind) {
		s.leases.drop(x)
		sh := s.shard(x.key)
		sh.mu.Lock()
		sh.remove(f)
		sh.mu.Unlock()
		event.Kind = kind
		s.observe(ctx, event)
	}
	ok := s.later(&errand{key: x.key, completes: true, send: func(ctx context.Context) error {
		sent := time.Now()
		held, err := s.backend.Complete(ctx, completion)
		switch {
		case err != nil:
			return err
		case !held:
			over(Lost)
		default:
			s.remember(x.key, f.fingerprint, kept, sent, completion.TTL)
			over(Settled)
		}
		return nil
	}})
	if !ok { // the store has stopped: the claim lapses
		over(Lost)
	}
}

// obey makes a holder that was taken over a follower of the record: it gets
// the result that every caller of the key sees. v and err are its own outcome,
// which count only if nothing is recorded.
func (c *call[T]) obey(ctx context.Context, f *flight, x *execution, v T, err error, own result) (T, error) {
	s := c.store
	r := Record{Attempt: x.attempt, Fence: x.fence}
	s.observe(ctx, c.event(Lost, r, 0, err))
	recorded, found, lookupErr := c.awaitRecord(ctx)
	switch {
	case found && sameArguments(recorded.Fingerprint, c.fingerprint):
		return c.replay(ctx, f, recorded, time.Now())
	case lookupErr != nil && err == nil:
		err = lookupErr
	}
	kind := Executed
	if err != nil {
		kind = Released
	}
	s.conclude(ctx, c.event(kind, r, 0, err), c.waited)
	switch {
	case err == nil:
		c.land(f, arrived, own, nil)
	case ctx.Err() != nil:
		c.land(f, stepDown, result{}, err)
	default:
		c.land(f, failed, result{}, err)
	}
	return v, err
}

// awaitRecord waits for the key's outcome without ever claiming it. found is
// false if nobody holds the key any more.
func (c *call[T]) awaitRecord(ctx context.Context) (r Record, found bool, err error) {
	w := waiter{store: c.store, key: c.key}
	defer func() { c.waited += w.end() }()
	for {
		detached, cancel := c.store.detached(ctx)
		r, found, err = c.store.backend.Lookup(detached, c.key)
		cancel()
		switch {
		case err != nil:
			return r, false, &BackendError{Operation: c.operation.name, Key: c.key, Action: "lookup", Err: err}
		case !found || r.State == Pending && r.LeaseLeft <= 0:
			return r, false, nil
		case r.State == Completed:
			return r, true, nil
		}
		if w.watch() {
			continue
		}
		if _, err := w.wait(ctx, r.LeaseLeft, time.Time{}); err != nil {
			return r, false, c.error(r, err)
		}
	}
}
