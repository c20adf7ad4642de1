package idemtest

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// A trial is one check of one backend. After its first failure the backend is
// not called any more, and every step returns zero values.
type trial struct {
	ctx     context.Context
	backend idem.Backend
	advance func(time.Duration) error
	err     error
	owners  uint64

	short time.Duration // passes during a check, perhaps before the next step
	ample time.Duration // passes too, but leaves time for a step or two
	long  time.Duration // does not
	slack time.Duration // more than a check takes
	exact bool          // time passes only when the check says so, give or take slack
}

// failf records a failure if it is the first.
func (t *trial) failf(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf(format, args...)
	}
}

// pass lets a duration of short end.
func (t *trial) pass() { t.wait(t.short + min(t.short, t.slack)) }

// wait lets d pass.
func (t *trial) wait(d time.Duration) {
	if t.err == nil {
		if err := t.advance(d); err != nil {
			t.failf("advance by %v: %w", d, err)
		}
	}
}

// owner returns one that was not used before.
func (t *trial) owner() (o idem.Owner) {
	t.owners++
	binary.BigEndian.PutUint64(o[8:], t.owners)
	return o
}

// request returns a claim by a new owner, which lasts and may take over.
func (t *trial) request(key string) idem.ClaimRequest {
	return idem.ClaimRequest{Key: key, Owner: t.owner(), Lease: t.long, Retention: t.long, Takeover: true}
}

// claim sends q, of which who says whose it is, and wants the status.
func (t *trial) claim(who string, q idem.ClaimRequest, want idem.ClaimStatus) idem.ClaimResult {
	if t.err != nil {
		return idem.ClaimResult{}
	}
	got, err := t.backend.Claim(t.ctx, q)
	switch {
	case err != nil:
		t.failf("claim by %s: %w", who, err)
	case got.Status != want:
		t.failf("claim by %s: got %s, want %s", who, statusName(got.Status), statusName(want))
	case want == idem.ClaimWon && got.Record.State != idem.Pending:
		t.failf("claim by %s: won a record that is %v, want it pending", who, got.Record.State)
	case want == idem.ClaimWon && len(got.Record.Result) > 0:
		t.failf("claim by %s: won a record that has a result already", who)
	}
	return got
}

// win claims key for a new owner, and wants to win it.
func (t *trial) win(key string) idem.Record {
	return t.claim("its first owner", t.request(key), idem.ClaimWon).Record
}

// winShort wins key with a lease that pass ends.
func (t *trial) winShort(key string) idem.Record {
	q := t.request(key)
	q.Lease = t.short
	return t.claim("its first owner", q, idem.ClaimWon).Record
}

// finish wins key and completes it.
func (t *trial) finish(key string, result []byte, ttl time.Duration) idem.Record {
	r := t.win(key)
	t.complete("the holder", idem.Completion{Key: key, Fence: r.Fence, Result: result, TTL: ttl}, true)
	return r
}

// complete sends c and wants held.
func (t *trial) complete(who string, c idem.Completion, want bool) {
	if t.err != nil {
		return
	}
	held, err := t.backend.Complete(t.ctx, c)
	t.held("complete by "+who, held, err, want)
}

// release wants held.
func (t *trial) release(who, key string, fence idem.Fence, want bool) {
	if t.err != nil {
		return
	}
	held, err := t.backend.Release(t.ctx, key, fence)
	t.held("release by "+who, held, err, want)
}

// extend sends one extension and wants held.
func (t *trial) extend(who, key string, fence idem.Fence, lease time.Duration, want bool) {
	held := t.extendAll(who, []idem.Extension{{Key: key, Fence: fence, Lease: lease}})
	if t.err == nil {
		t.held("extend by "+who, held[0], nil, want)
	}
}

// extendAll sends x and wants as many answers.
func (t *trial) extendAll(who string, x []idem.Extension) []bool {
	if t.err != nil {
		return nil
	}
	held, err := t.backend.Extend(t.ctx, x)
	if err != nil {
		t.failf("extend by %s: %w", who, err)
	} else if len(held) != len(x) {
		t.failf("extend by %s: %d answers to %d extensions", who, len(held), len(x))
	}
	return held
}

func (t *trial) held(step string, held bool, err error, want bool) {
	if err != nil {
		t.failf("%s: %w", step, err)
	} else if held != want {
		t.failf("%s: held %v, want %v", step, held, want)
	}
}

// lookup wants key to be present, and returns its record.
func (t *trial) lookup(when, key string) idem.Record {
	if t.err != nil {
		return idem.Record{}
	}
	r, found, err := t.backend.Lookup(t.ctx, key)
	if err != nil {
		t.failf("lookup %s: %w", when, err)
	} else if !found {
		t.failf("lookup %s: found nothing, want a record", when)
	}
	return r
}

// absent wants key to be absent.
func (t *trial) absent(when, key string) {
	if t.err != nil {
		return
	}
	r, found, err := t.backend.Lookup(t.ctx, key)
	if err != nil {
		t.failf("lookup %s: %w", when, err)
	} else if found {
		t.failf("lookup %s: found a record (%v, fence %d), want none", when, r.State, r.Fence)
	}
}

// sweep wants from least to most records to be deleted.
func (t *trial) sweep(when string, limit, least, most int) int {
	if t.err != nil {
		return 0
	}
	n, err := t.backend.Sweep(t.ctx, limit)
	if err != nil {
		t.failf("sweep %s: %w", when, err)
	} else if n < least || n > most {
		t.failf("sweep %s with limit %d: deleted %d records, want %d to %d", when, limit, n, least, most)
	}
	return n
}

// left wants a duration that was want at most slack ago. Backends may keep
// times in milliseconds, and round them.
func (t *trial) left(what string, got, want time.Duration) {
	const rounding = time.Millisecond
	if got > want+rounding || got < want-t.slack {
		t.failf("%s is %v, want %v", what, got, want)
	}
}

// same wants two values to be equal.
func same[T comparable](t *trial, what string, got, want T) {
	if got != want {
		t.failf("%s is %v, want %v", what, got, want)
	}
}

// bytes wants two byte strings to be equal, which may be long.
func (t *trial) bytes(what string, got, want []byte) {
	if string(got) != string(want) {
		t.failf("%s: got %d bytes %.40q, want %d bytes %.40q", what, len(got), got, len(want), want)
	}
}

func statusName(s idem.ClaimStatus) string {
	switch s {
	case idem.ClaimWon:
		return "won"
	case idem.ClaimPending:
		return "pending"
	case idem.ClaimCompleted:
		return "completed"
	case idem.ClaimConflict:
		return "conflict"
	case idem.ClaimInterrupted:
		return "interrupted"
	default:
		return fmt.Sprintf("status %d", s)
	}
}
