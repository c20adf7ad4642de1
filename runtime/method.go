package idem

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// SupportsGeneratedCode1 is named by files that idemgen wrote, so that they
// compile only with a runtime that understands them.
const SupportsGeneratedCode1 = true

// MethodOptions describe one idempotent method. Generated code fills them in
// from the method's directives.
type MethodOptions[T any] struct {
	// Operation is the stable name of the method: the key space of its calls.
	Operation string

	// Parts and Arguments name, for errors, the key's parts and what the
	// fingerprint covers, in the order in which they are encoded.
	Parts, Arguments []string

	TTL     time.Duration // how long a result is replayed; 0: the store's
	Lease   time.Duration // how long a silent holder is believed alive; 0: the store's
	Reject  bool          // answer ErrInProgress at once while another process holds the key
	MaxWait time.Duration // answer it after this time; 0: wait as long as the context lasts
	Refuse  bool          // answer ErrInterrupted, instead of running again, after a holder fell silent

	// Optional runs a call whose key has an empty part without protection.
	Optional bool

	// Tx runs the method, its claim and the record of its result in one
	// transaction of the backend, which must be a Transactor.
	Tx bool

	// Final names the errors that are outcomes: recorded and replayed.
	Final []Final

	// Codec encodes results for the record. If it is nil that is encoding/json.
	Codec Codec

	// Copy makes a copy that shares nothing with its argument. If it is nil,
	// copies are made by decoding the recorded result.
	Copy func(T) T
}

// A Method is an idempotent method whose results, without the error, are a T.
type Method[T any] struct {
	store     *Store
	operation operation
	copy      func(T) T
}

// operation is what a method says of its calls, whatever their type.
type operation struct {
	name             string
	prefix           string // the name as it begins a key
	parts, arguments []string
	ttl, lease       time.Duration
	maxWait          time.Duration
	reject           bool
	refuse           bool
	optional         bool
	tx               bool
	finals           []Final
	codec            Codec
}

// NewMethod returns the method that o describes. It panics if o makes no
// sense, which generated code never does, or if o.Tx is set and the store's
// backend is not a Transactor, or one that cannot begin transactions.
func NewMethod[T any](store *Store, o MethodOptions[T]) *Method[T] {
	m := &Method[T]{
		store: store,
		operation: operation{
			name: o.Operation, parts: o.Parts, arguments: o.Arguments,
			ttl: o.TTL, lease: o.Lease, maxWait: o.MaxWait,
			reject: o.Reject, refuse: o.Refuse, optional: o.Optional, tx: o.Tx,
			finals: o.Final, codec: o.Codec,
		},
		copy: o.Copy,
	}
	if store == nil {
		panic("idem.NewMethod: the store is nil")
	}
	if err := m.operation.complete(store); err != nil {
		panic("idem.NewMethod: " + err.Error())
	}
	if m.copy == nil {
		m.copy = copierOf[T]()
	}
	return m
}

// complete checks o and fills in the store's defaults.
func (o *operation) complete(s *Store) error {
	switch {
	case o.name == "":
		return errors.New("the operation has no name")
	case o.ttl < 0:
		return fmt.Errorf("%s: the TTL %v is negative", o.name, o.ttl)
	case o.lease < 0 || o.lease > 0 && o.lease < time.Millisecond:
		return fmt.Errorf("%s: the lease %v is shorter than a millisecond", o.name, o.lease)
	case o.maxWait < 0:
		return fmt.Errorf("%s: the wait %v is negative", o.name, o.maxWait)
	}
	if o.tx {
		if err := s.transactional(); err != nil {
			return fmt.Errorf("%s: transactional mode (//idem:tx): %w", o.name, err)
		}
	}
	o.prefix = escapeOperation(o.name)
	if o.codec == nil {
		o.codec = jsonCodec{}
	}
	if o.ttl == 0 {
		o.ttl = s.options.ttl
	}
	if o.lease == 0 {
		o.lease = s.options.lease
	}
	return nil
}

// Run calls fn at most once at a time and once per key, and returns its result
// or the recorded one. A nil fingerprint lets calls with any arguments share
// the key.
//
// fn gets a context that belongs to the execution (see ExecutionFrom) and that
// is cancelled with cause ErrClaimLost if the claim is lost.
func (m *Method[T]) Run(ctx context.Context, key *KeyBuilder, fingerprint *FingerprintBuilder, fn func(context.Context) (T, error)) (T, error) {
	return m.RunAsking(ctx, key, fingerprint, fn, nil)
}

// RunAsking is Run for a method that can find out whether its effect happened.
// After a holder fell silent, and before fn runs again, ask is called: if it
// found the effect, the result that it returns is recorded and replayed; if it
// did not, fn runs; if it fails, nothing runs, and the caller gets the error.
func (m *Method[T]) RunAsking(ctx context.Context, key *KeyBuilder, fingerprint *FingerprintBuilder, fn func(context.Context) (T, error), ask func(context.Context) (v T, found bool, err error)) (T, error) {
	s := m.store
	var zero T
	scope, err := s.scope(ctx)
	if err != nil {
		return zero, s.refuse(ctx, &m.operation, "", err)
	}
	name, missing, err := key.finish(scope, m.operation.prefix)
	if err != nil {
		return zero, s.refuse(ctx, &m.operation, nameAt(m.operation.parts, key.failedPart()), err)
	}
	if missing >= 0 {
		if m.operation.optional {
			if m.operation.tx {
				fn = transacted(s, &m.operation, fn)
			}
			return unprotected(ctx, s, &m.operation, fn)
		}
		return zero, s.refuse(ctx, &m.operation, nameAt(m.operation.parts, missing), ErrEmptyKey)
	}
	sum, err := fingerprint.sum()
	if err != nil {
		return zero, s.refuse(ctx, &m.operation, nameAt(m.operation.arguments, fingerprint.failedArgument()), err)
	}
	c := call[T]{store: s, operation: &m.operation, copy: m.copy, key: name, fingerprint: sum, fn: fn, ask: ask}
	return c.do(ctx)
}

// nameAt returns names[i], or "" if there is none.
func nameAt(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return ""
	}
	return names[i]
}

// scope returns the scope of the calls made with ctx.
func (s *Store) scope(ctx context.Context) (string, error) {
	if s.options.scope == nil {
		return "", nil
	}
	scope, err := s.options.scope(ctx)
	if err == nil && scope == "" {
		err = ErrNoScope
	}
	return scope, err
}

// refuse ends a call that has no key.
func (s *Store) refuse(ctx context.Context, o *operation, argument string, err error) error {
	err = &CallError{Operation: o.name, Argument: argument, Err: err}
	s.conclude(ctx, Event{Kind: Failed, Operation: o.name, Err: err}, 0)
	return err
}

// unprotected runs a call whose optional key is empty.
func unprotected[T any](ctx context.Context, s *Store, o *operation, fn func(context.Context) (T, error)) (T, error) {
	var zero T
	if !s.calls.enter() {
		return zero, s.refuse(ctx, o, "", ErrClosed)
	}
	defer s.calls.leave()
	start := time.Now()
	v, err := fn(ctx)
	s.conclude(ctx, Event{Kind: Unprotected, Operation: o.name, Duration: time.Since(start), Err: err}, 0)
	return v, err
}

// conclude tells the observer and the caller what became of a call.
func (s *Store) conclude(ctx context.Context, e Event, waited time.Duration) {
	s.observe(ctx, e)
	if r, ok := ctx.Value(outcomeKey{}).(*outcomeRecorder); ok {
		r.record(Outcome{Kind: e.Kind, Operation: e.Operation, Key: e.Key, Attempt: e.Attempt, Fence: e.Fence, Waited: waited})
	}
}
