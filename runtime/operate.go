package idem

import (
	"cmp"
	"context"
	"reflect"
	"time"
)

// Lookup returns what is recorded for a key, as it stands in errors and
// events: with its scope and operation. The Result of the record is the
// encoded result, without the envelope that backends keep it in. found is
// false if there is no record, or an expired one.
func (s *Store) Lookup(ctx context.Context, key string) (r Record, found bool, err error) {
	r, found, err = s.backend.Lookup(ctx, key)
	if err != nil {
		return Record{}, false, &BackendError{Key: key, Action: "lookup", Err: err}
	}
	if found && r.State == Completed {
		_, codec, payload, err := openEnvelope(r.Result)
		if err != nil {
			return r, true, &DecodeError{Key: key, Codec: codec, Err: err}
		}
		r.Result = payload
	}
	return r, found, nil
}

// Forget deletes the record of a key, whatever it says, so that the next call
// runs again. A holder that still runs can then record nothing any more.
// Other processes may replay a result that they hold in their cache until its
// age ends (see WithCache). Forget returns ErrNotFound if there is no record,
// and ErrChanged if it was claimed anew meanwhile.
func (s *Store) Forget(ctx context.Context, key string) error {
	r, found, err := s.backend.Lookup(ctx, key)
	if err != nil {
		return &BackendError{Key: key, Action: "lookup", Err: err}
	}
	s.drop(key)
	if !found {
		return &CallError{Key: key, Err: ErrNotFound}
	}
	held, err := s.backend.Release(ctx, key, r.Fence)
	if err != nil {
		return &BackendError{Key: key, Action: "release", Err: err}
	}
	s.drop(key)
	if !held {
		return &CallError{Key: key, Attempt: r.Attempt, Age: r.Age, Err: ErrChanged}
	}
	return nil
}

// pointerTo returns a pointer to a copy of v, of v's own type.
func pointerTo(v any) any {
	if v == nil {
		return &v
	}
	p := reflect.New(reflect.TypeOf(v))
	p.Elem().Set(reflect.ValueOf(v))
	return p.Interface()
}

// A Resolution is the outcome that an operator found out for a key.
type Resolution struct {
	// Result is encoded as the method's own would be: a value of its result
	// type, struct{}{} for a method that returns an error alone, and for a
	// method with several results a struct with the JSON names "1", "2", ….
	Result any

	TTL   time.Duration // how long it is replayed; 0: the store's
	Codec Codec         // the method's; nil: encoding/json
}

// Resolve records the outcome of a key whose execution was interrupted, in
// place of whoever held it: every later call replays it. A holder that still
// runs can then record nothing any more. Resolve returns ErrNotFound if there
// is no record, and ErrChanged if it is completed, or was claimed anew
// meanwhile.
func (s *Store) Resolve(ctx context.Context, key string, r Resolution) error {
	ttl := cmp.Or(r.TTL, s.options.ttl)
	if r.Codec == nil {
		r.Codec = jsonCodec{}
	}
	envelope, err := encodeOutcome(r.Codec, pointerTo(r.Result), nil, s.options.resultLimit)
	if err != nil {
		return &CallError{Key: key, Err: err}
	}
	seen, found, err := s.backend.Lookup(ctx, key)
	if err != nil {
		return &BackendError{Key: key, Action: "lookup", Err: err}
	}
	if !found {
		return &CallError{Key: key, Err: ErrNotFound}
	}
	changed := &CallError{Key: key, Attempt: seen.Attempt, Age: seen.Age, Err: ErrChanged}
	if seen.State == Completed {
		return changed
	}
	claim, err := s.backend.Claim(ctx, ClaimRequest{
		Key: key, Owner: newOwner(), Lease: s.options.lease, Retention: Forever, Replace: seen.Fence,
	})
	if err != nil {
		return &BackendError{Key: key, Action: "claim", Err: err}
	}
	if claim.Status != ClaimWon {
		return changed
	}
	held, err := s.backend.Complete(ctx, Completion{Key: key, Fence: claim.Record.Fence, Result: envelope, TTL: ttl})
	if err != nil {
		return &BackendError{Key: key, Action: "complete", Err: err}
	}
	if !held {
		return changed
	}
	s.drop(key)
	return nil
}
