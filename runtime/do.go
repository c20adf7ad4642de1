package idem

import (
	"context"
	"time"
)

// A Call describes one call of hand-written code to Do.
type Call struct {
	// Operation is the stable name of what is done: the key space. Calls with
	// one operation must have one result type.
	Operation string

	// Key tells this call from others of the operation. It must come from the
	// caller's intent, such as an order's number, and be the same on a retry.
	Key string

	// Request is what is done, or nil. A retry with another request under the
	// same key is refused with ErrKeyReused. Its exported fields are compared
	// as generated code compares arguments: what is in interfaces, functions
	// and channels does not count, and is an error as the whole request.
	Request any

	TTL     time.Duration // how long the result is replayed; 0: the store's
	Lease   time.Duration // how long a silent holder is believed alive; 0: the store's
	Reject  bool          // answer ErrInProgress at once while another process holds the key
	MaxWait time.Duration // answer it after this time; 0: wait as long as ctx lasts
	Refuse  bool          // answer ErrInterrupted, instead of running again, after a holder fell silent
	Tx      bool          // run in one transaction with claim and record, on a backend that is a Transactor
}

var requestArgument = []string{"Request"}

// Do calls fn at most once at a time and once per key, and returns its result
// or the recorded one, which must survive encoding/json unchanged: nothing
// checks that for hand-written code, other than a store with WithStrict.
//
// fn gets a context that belongs to the execution; see ExecutionFrom.
func Do[T any](ctx context.Context, store *Store, c Call, fn func(context.Context) (T, error)) (T, error) {
	var zero T
	o := &operation{
		name: c.Operation, arguments: requestArgument,
		ttl: c.TTL, lease: c.Lease, maxWait: c.MaxWait, reject: c.Reject, refuse: c.Refuse, tx: c.Tx,
	}
	if err := o.complete(store); err != nil {
		return zero, store.refuse(ctx, o, "", err)
	}
	if c.Key == "" {
		return zero, store.refuse(ctx, o, "Key", ErrEmptyKey)
	}
	scope, err := store.scope(ctx)
	if err != nil {
		return zero, store.refuse(ctx, o, "", err)
	}
	key := singleKey(scope, o.prefix, c.Key)
	var sum []byte
	if c.Request != nil {
		var f FingerprintBuilder
		f.Arg(0)
		f.Reflect(c.Request)
		if sum, err = f.sum(); err != nil {
			return zero, store.refuse(ctx, o, "Request", err)
		}
	}
	run := call[T]{store: store, operation: o, copy: copierOf[T](), key: key, fingerprint: sum, fn: fn}
	return run.do(ctx)
}
