package idem

import (
	"context"
	"sync"
	"time"
)

// An Execution is the run of a method under a claim, as seen by the method.
// Systems downstream that know idempotency keys or fences get theirs from it.
type Execution struct {
	Operation string
	Key       string // the whole key, with its scope and operation
	Attempt   int    // 1 for the first, one more after each takeover
	Fence     Fence  // grows with every claim of the backend
}

// Child returns a key for one of the calls that the execution makes. It is the
// same in every attempt, so the system downstream recognises a repetition, and
// differs from the child keys of all other names and executions.
func (x Execution) Child(name string) string {
	return childKey(x.Key, name)
}

// ExecutionFrom returns the execution that ctx belongs to: the innermost one,
// if executions nest. ok is false outside of any.
func ExecutionFrom(ctx context.Context) (x Execution, ok bool) {
	e, ok := ctx.Value(executionKey{}).(*execution)
	if !ok {
		return Execution{}, false
	}
	return Execution{Operation: e.operation, Key: e.key, Attempt: e.attempt, Fence: e.fence}, true
}

type (
	executionKey struct{}
	outcomeKey   struct{}
)

// execution is a claim that this process holds, and the context of the method
// that runs under it.
type execution struct {
	context.Context // ends with the leader's, or with cause ErrClaimLost
	cancel          context.CancelCauseFunc

	store     *Store
	operation string
	key       string
	attempt   int
	fence     Fence
	parent    *execution

	// The fields below belong to Store.leases and its lock.
	lease   time.Duration
	renewed time.Time // when the last good renewal was sent
	slot    int       // index in leases.held
	lost    bool      // the lease ended before it could be renewed, or the backend said so
}

// record is what the execution knows of its record.
func (x *execution) record() Record { return Record{Attempt: x.attempt, Fence: x.fence} }

// Value adds the execution to the context, and hides the caller's wish to
// know the outcome from calls that are made inside.
func (x *execution) Value(key any) any {
	switch key.(type) {
	case executionKey:
		return x
	case outcomeKey:
		return nil
	default:
		return x.Context.Value(key)
	}
}

// inside reports whether ctx belongs to an execution of key on the same
// backend.
func (s *Store) inside(ctx context.Context, key string) bool {
	x, _ := ctx.Value(executionKey{}).(*execution)
	for ; x != nil; x = x.parent {
		if x.key == key && (x.store == s || s.comparable && x.store.backend == s.backend) {
			return true
		}
	}
	return false
}

// An Outcome says what a call came to.
type Outcome struct {
	Kind      EventKind // Executed, Replayed, Joined, Released, …; 0 while no call has ended
	Operation string
	Key       string
	Attempt   int
	Fence     Fence
	Waited    time.Duration // for another process
}

// Repeated reports whether the result is one that an earlier or concurrent
// call had produced.
func (o Outcome) Repeated() bool { return o.Kind == Replayed || o.Kind == Joined }

// WithOutcome returns a context through which the caller learns what became of
// the call that it makes with it: outcome returns the last one that ended.
// Calls that the method makes in its turn do not count.
func WithOutcome(parent context.Context) (ctx context.Context, outcome func() Outcome) {
	r := new(outcomeRecorder)
	return context.WithValue(parent, outcomeKey{}, r), r.last
}

type outcomeRecorder struct {
	mu      sync.Mutex
	outcome Outcome
}

func (r *outcomeRecorder) record(o Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outcome = o
}

func (r *outcomeRecorder) last() Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.outcome
}
