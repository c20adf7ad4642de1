package idem

import (
	"cmp"
	"context"
	"time"
)

// outcome is what an execution came to: a result, or an error that is final.
type outcome[T any] struct {
	kind      EventKind // Executed or Recovered
	value     T
	err       error          // final
	recorded  *recordedError // what is recorded of err
	encodeErr error          // why that is nothing
	took      time.Duration
}

// settle records the outcome of an execution and returns what its caller gets.
func (c *call[T]) settle(ctx context.Context, f *flight, x *execution, o outcome[T]) (T, error) {
	s := c.store
	x.cancel(context.Canceled)
	envelope, encodeErr := c.encode(&o)
	completion := Completion{Key: c.key, Fence: x.fence, Result: envelope, TTL: c.operation.ttl}

	sent := time.Now()
	held, err := true, error(nil)
	if c.tx != nil {
		if err := c.commit(ctx, completion, o.err != nil); err != nil {
			c.undone(ctx, f, x, o.took, err)
			return *new(T), err
		}
	} else {
		detached, cancel := s.detached(ctx)
		held, err = s.backend.Complete(detached, completion)
		cancel()
	}

	r := x.record()
	kept := result{envelope: envelope, attempt: r.Attempt, fence: r.Fence}
	if encodeErr == nil { // what cannot be encoded can be too deep, or circular, to copy
		kept = c.keep(f, o.value, o.err, envelope, r)
	}
	event := c.event(o.kind, r, o.took, cmp.Or(encodeErr, o.err))
	switch {
	case err != nil:
		err = &BackendError{Operation: x.operation, Key: x.key, Action: "complete", Err: err}
		s.observe(ctx, c.event(Unsettled, r, 0, err))
		s.conclude(ctx, event, c.waited)
		c.landed = true
		s.shard(c.key).land(f, arrived, kept, nil, true)
		c.settleLater(f, x, completion, kept)
	case !held:
		s.leases.drop(x)
		return c.obey(ctx, f, x, o.value, o.err, kept)
	default:
		s.leases.drop(x)
		if !c.private {
			s.remember(c.key, c.fingerprint, kept, sent, completion.TTL)
		}
		s.conclude(ctx, event, c.waited)
		c.land(f, arrived, kept, nil)
	}
	if s.options.strict && encodeErr == nil {
		v, final, err := decodeOutcome[T](c.operation, c.key, envelope)
		return v, cmp.Or(err, final)
	}
	return o.value, o.err
}

// encode makes the record of an outcome, or that of one which cannot be kept.
func (c *call[T]) encode(o *outcome[T]) ([]byte, error) {
	if o.encodeErr != nil {
		return unavailable(c.operation.codec, o.encodeErr), o.encodeErr
	}
	return encodeOutcome(c.operation.codec, &o.value, o.recorded, c.store.options.resultLimit)
}

// settleLater records an outcome in the background. Until that is done the
// claim stays renewed, and the flight stays, so that this process replays the
// outcome.
func (c *call[T]) settleLater(f *flight, x *execution, completion Completion, kept result) {
	s := c.store
	over := func(kind EventKind) {
		s.leases.drop(x)
		sh := s.shard(x.key)
		sh.mu.Lock()
		sh.remove(f)
		sh.mu.Unlock()
		s.observe(context.Background(), Event{Kind: kind, Operation: x.operation, Key: x.key, Attempt: x.attempt, Fence: x.fence})
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
// the outcome that every caller of the key sees. v and err are its own, which
// count only if nothing is recorded; own is what its followers get then, empty
// if err is not an outcome.
func (c *call[T]) obey(ctx context.Context, f *flight, x *execution, v T, err error, own result) (T, error) {
	s, r := c.store, x.record()
	s.observe(ctx, c.event(Lost, r, 0, err))
	recorded, found, lookupErr := c.awaitRecord(ctx)
	switch {
	case found && sameArguments(recorded.Fingerprint, c.fingerprint):
		return c.replay(ctx, f, recorded, time.Now())
	case lookupErr != nil:
		err = cmp.Or(err, lookupErr)
		own = result{}
	}
	if own.envelope == nil {
		s.conclude(ctx, c.event(Released, r, 0, err), c.waited)
		c.landFailed(ctx, f, err)
		return v, err
	}
	s.conclude(ctx, c.event(Executed, r, 0, err), c.waited)
	c.land(f, arrived, own, nil)
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
