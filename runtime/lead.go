package idem

import (
	"context"
	"errors"
	"runtime/debug"
	"time"
)

// lead claims the key, and runs the method if it wins. Whatever happens, its
// flight lands.
func (c *call[T]) lead(ctx context.Context, f *flight) (v T, err error) {
	defer c.crash(f)
	defer func() { c.rollback(ctx) }()
	answer, sent, err := c.acquire(ctx, f)
	r := answer.Record
	switch {
	case err == nil:
	case ctx.Err() != nil:
		err = c.fail(ctx, Failed, r, ctx.Err())
		c.land(f, stepDown, result{}, err)
		return v, err
	case errors.Is(err, ErrClosed):
		err = c.fail(ctx, Failed, r, err)
		c.land(f, failed, result{}, err)
		return v, err
	case errors.Is(err, ErrInProgress):
		err = c.inProgress(ctx, r)
		c.land(f, stepDown, result{}, err)
		return v, err
	case c.store.options.failOpen && !c.operation.tx:
		return c.runUnprotected(ctx, f, err)
	default:
		err = &BackendError{Operation: c.operation.name, Key: c.key, Action: "claim", Err: err}
		c.store.conclude(ctx, c.event(Failed, r, 0, err), c.waited)
		c.land(f, failed, result{}, err)
		return v, err
	}

	switch answer.Status {
	case ClaimWon:
		if answer.TakenOver {
			c.store.observe(ctx, c.event(TakenOver, r, 0, nil))
		}
		return c.execute(ctx, f, r, sent)
	case ClaimCompleted:
		return c.replay(ctx, f, r, sent)
	case ClaimConflict:
		err = c.conflict(ctx, r)
	case ClaimInterrupted:
		err = c.fail(ctx, Interrupted, r, ErrInterrupted)
	default:
		err = c.inProgress(ctx, r)
	}
	c.land(f, failed, result{}, err)
	return v, err
}

// acquire claims the key. While another process holds it, it waits as the
// method's policy says: a pending answer means that the method does not wait,
// ErrInProgress that it waited long enough. sent is when the last claim was
// sent.
func (c *call[T]) acquire(ctx context.Context, f *flight) (answer ClaimResult, sent time.Time, err error) {
	s, o := c.store, c.operation
	if err := ctx.Err(); err != nil {
		return answer, sent, err
	}
	retention := o.ttl
	if o.refuse || o.tx { // a transaction is not renewed, however long it takes
		retention = Forever
	}
	request := ClaimRequest{
		Key: c.key, Owner: newOwner(), Fingerprint: c.fingerprint,
		Lease: o.lease, Retention: retention, Takeover: !o.refuse,
	}
	w := waiter{store: s, key: c.key}
	defer func() {
		if d := w.end(); d > 0 {
			c.waited += d
			s.observe(ctx, c.event(Waited, answer.Record, d, nil))
		}
	}()
	for {
		sent = time.Now()
		answer, err = c.claim(ctx, request)
		if err != nil || answer.Status != ClaimPending || o.reject || c.private {
			return answer, sent, err
		}
		s.shard(c.key).confirm(f, false)
		if w.watch() {
			request.Waiting = true
			continue
		}
		inTime, err := w.wait(ctx, answer.Record.LeaseLeft, c.deadline)
		if err != nil {
			return answer, sent, err
		}
		if !inTime {
			return answer, sent, ErrInProgress
		}
	}
}

// inProgress ends a call that does not wait for the holder of r (any longer).
func (c *call[T]) inProgress(ctx context.Context, r Record) error {
	e := c.error(r, ErrInProgress)
	// What has run for a while will run for about as long again, as far as
	// anybody knows; and when the lease ends the answer changes for sure.
	e.RetryAfter = min(max(r.Age, 100*time.Millisecond), max(r.LeaseLeft, time.Millisecond))
	c.store.conclude(ctx, c.event(Rejected, r, 0, e), c.waited)
	return e
}

// replay returns the recorded result.
func (c *call[T]) replay(ctx context.Context, f *flight, r Record, sent time.Time) (T, error) {
	v, final, err := decodeOutcome[T](c.operation, c.key, r.Result)
	if err != nil {
		c.store.conclude(ctx, c.event(Failed, r, 0, err), c.waited)
		c.land(f, failed, result{}, err)
		return v, err
	}
	kept := c.keep(f, v, final, r.Result, r)
	if !c.private {
		c.store.remember(c.key, r.Fingerprint, kept, sent, r.TTLLeft)
	}
	c.store.conclude(ctx, c.event(Replayed, r, 0, final), c.waited)
	c.land(f, arrived, kept, nil)
	return v, final
}

// execute runs the method under the claim r.
func (c *call[T]) execute(ctx context.Context, f *flight, r Record, sent time.Time) (v T, err error) {
	s := c.store
	x := c.begin(ctx, r, sent)
	s.shard(c.key).confirm(f, true)
	start := time.Now()
	asking, returned, finished := c.ask != nil && r.Attempt > 1, false, false
	defer func() {
		if finished {
			return
		}
		if returned { // an observer panicked: at least the claim must not be renewed for ever
			s.leases.drop(x)
			return
		}
		// The method panicked or called runtime.Goexit, which recovers as nil.
		value := recover()
		e := &PanicError{Value: value, Stack: debug.Stack()}
		kind := Released
		if asking {
			kind = Uncertained // what it was to find out is still unknown
			c.abandon(ctx, x)
		} else {
			c.release(ctx, x)
		}
		s.conclude(ctx, c.event(kind, r, time.Since(start), e), c.waited)
		c.land(f, failed, result{}, e)
		if value != nil {
			panic(value)
		}
	}()
	if asking {
		v, found, err := c.ask(x)
		if found || err != nil {
			returned = true
			v, err = c.answered(ctx, f, x, v, err, time.Since(start))
			finished = true
			return v, err
		}
		asking = false
	}
	v, err = c.fn(x)
	returned = true
	v, err = c.finish(ctx, f, x, v, err, time.Since(start))
	finished = true
	return v, err
}

// answered ends an execution after the question whether an earlier attempt had
// its effect was answered with yes, or not at all.
func (c *call[T]) answered(ctx context.Context, f *flight, x *execution, v T, err error, took time.Duration) (T, error) {
	if err == nil {
		return c.settle(ctx, f, x, outcome[T]{kind: Recovered, value: v, took: took})
	}
	var zero T
	c.abandon(ctx, x)
	c.store.conclude(ctx, c.event(Uncertained, x.record(), took, err), c.waited)
	c.landFailed(ctx, f, err)
	return zero, err
}

// landFailed lands the flight with the leader's error. If the leader's own
// context ended that is nobody else's.
func (c *call[T]) landFailed(ctx context.Context, f *flight, err error) {
	v := failed
	if ctx.Err() != nil {
		v = stepDown
	}
	c.land(f, v, result{}, err)
}

// finish does what the method's outcome asks for.
func (c *call[T]) finish(ctx context.Context, f *flight, x *execution, v T, err error, took time.Duration) (T, error) {
	if err == nil {
		return c.settle(ctx, f, x, outcome[T]{kind: Executed, value: v, took: took})
	}
	if IsUncertain(err) {
		c.abandon(ctx, x)
		c.store.conclude(ctx, c.event(Uncertained, x.record(), took, err), c.waited)
		c.landFailed(ctx, f, err)
		return v, err
	}
	if recorded, ok, encodeErr := c.operation.final(err); ok {
		return c.settle(ctx, f, x, outcome[T]{
			kind: Executed, value: v, err: err, recorded: recorded, encodeErr: encodeErr, took: took,
		})
	}
	if c.tx != nil && c.store.transactor.GaveUp(err) {
		err = c.error(x.record(), c.store.gaveUp(err))
	}
	if !c.release(ctx, x) {
		return c.obey(ctx, f, x, v, err, result{})
	}
	c.store.conclude(ctx, c.event(Released, x.record(), took, err), c.waited)
	c.landFailed(ctx, f, err)
	return v, err
}

// begin makes the execution of the claim r, which was sent at the given time,
// and has it renewed.
func (c *call[T]) begin(ctx context.Context, r Record, sent time.Time) *execution {
	parent, _ := ctx.Value(executionKey{}).(*execution)
	x := &execution{
		store: c.store, operation: c.operation.name, key: c.key, attempt: r.Attempt, fence: r.Fence,
		parent: parent, lease: c.operation.lease, renewed: sent,
	}
	if c.tx != nil {
		ctx = c.tx.Context(ctx)
		x.lease = Forever // what holds the claim is the transaction
	}
	x.Context, x.cancel = context.WithCancelCause(ctx)
	c.store.hold(x)
	c.store.sweeper.arm(c.store)
	return x
}

// release ends x after a failure and gives its claim back. It reports false if
// the claim had been taken over.
func (c *call[T]) release(ctx context.Context, x *execution) (held bool) {
	x.cancel(context.Canceled)
	c.store.leases.drop(x)
	if c.tx != nil {
		c.rollback(ctx)
		return true
	}
	return c.store.release(ctx, x.key, x.fence)
}

// abandon ends x without a word on its outcome: its lease ends at once, and
// the recover policy decides as it would after a crash.
func (c *call[T]) abandon(ctx context.Context, x *execution) {
	x.cancel(context.Canceled)
	c.store.leases.drop(x)
	if c.tx != nil {
		c.rollback(ctx)
		return
	}
	detached, cancel := c.store.detached(ctx)
	defer cancel()
	if _, err := c.store.backend.Extend(detached, []Extension{{Key: x.key, Fence: x.fence}}); err != nil {
		// The lease then ends by itself, a little later.
		err = &BackendError{Operation: x.operation, Key: x.key, Action: "extend", Err: err}
		c.store.observe(ctx, Event{Kind: Faulted, Operation: x.operation, Key: x.key, Attempt: x.attempt, Fence: x.fence, Err: err})
	}
}

// runUnprotected runs the method without a claim, because the backend failed
// and the store was told to fail open.
func (c *call[T]) runUnprotected(ctx context.Context, f *flight, cause error) (T, error) {
	start := time.Now()
	v, err := c.fn(ctx)
	if err != nil {
		c.store.conclude(ctx, c.event(Unprotected, Record{}, time.Since(start), errors.Join(err, cause)), c.waited)
		c.land(f, failed, result{}, err)
		return v, err
	}
	envelope, encodeErr := encodeOutcome(c.operation.codec, &v, nil, c.store.options.resultLimit)
	kept := result{envelope: envelope}
	if encodeErr == nil { // as in settle
		kept = c.keep(f, v, nil, envelope, Record{})
	}
	c.store.conclude(ctx, c.event(Unprotected, Record{}, time.Since(start), cause), c.waited)
	c.land(f, arrived, kept, nil)
	return v, nil
}

// land ends the flight and frees its key.
func (c *call[T]) land(f *flight, v verdict, r result, err error) {
	c.landed = true
	c.store.shard(c.key).land(f, v, r, err, false)
}

// crash lands a flight that did not land because something other than the
// method under a claim panicked or called runtime.Goexit: an observer, a
// marshaler, the backend, or an unprotected method.
func (c *call[T]) crash(f *flight) {
	if !c.landed {
		c.land(f, failed, result{}, &PanicError{Value: errors.New("the leader did not finish"), Stack: debug.Stack()})
	}
}
