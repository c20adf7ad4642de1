package idemtest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// A reference is the plainest backend that keeps the contract, or breaks it in
// one way.
type reference struct {
	fault   fault
	mu      sync.Mutex
	last    idem.Fence
	rows    map[string]*row
	watches map[string][]chan struct{}
	buffer  []byte
}

type row struct {
	idem.Record
	owner                  idem.Owner
	claimed, lease, expiry time.Time
	forever, waiting       bool
	takenOver              bool
}

var errBroken = errors.New("broken on purpose")

func newReference(f fault) *reference {
	return &reference{fault: f, rows: make(map[string]*row), watches: make(map[string][]chan struct{})}
}

// pause lets others in between two steps of a faulty method. In a bubble they
// all go as far as they can.
func (b *reference) pause(f fault) {
	if b.fault == f {
		b.mu.Unlock()
		time.Sleep(time.Nanosecond)
		b.mu.Lock()
	}
}

func (b *reference) key(key string) string {
	switch b.fault {
	case keysEndAtNUL:
		key, _, _ = strings.Cut(key, "\x00")
	case keysFoldCase:
		key = strings.ToLower(key)
	case keysAreText:
		key = strings.ToValidUTF8(key, "\ufffd")
	}
	return key
}

func (b *reference) expired(r *row) bool {
	now := time.Now()
	if r.State == idem.Completed && b.fault == expiredIsReplayed || r.forever || now.Before(r.expiry) {
		return false
	}
	return r.State == idem.Completed || !now.Before(r.lease)
}

func (b *reference) find(key string) *row {
	r := b.rows[b.key(key)]
	if r == nil || b.expired(r) {
		return nil
	}
	return r
}

func (b *reference) held(key string, fence idem.Fence, unfenced fault) *row {
	r := b.find(key)
	if r == nil || r.Fence != fence && b.fault != unfenced {
		return nil
	}
	return r
}

func (b *reference) view(r *row) idem.Record {
	v := r.Record
	v.Age = time.Since(r.claimed)
	if v.State == idem.Pending {
		v.LeaseLeft = time.Until(r.lease)
		if b.fault == leaseLeftIsNeverNegative {
			v.LeaseLeft = max(v.LeaseLeft, time.Millisecond)
		}
		return v
	}
	v.TTLLeft = time.Until(r.expiry)
	if r.forever {
		v.TTLLeft = idem.Forever
	}
	switch b.fault {
	case nulIsMangled:
		v.Result = bytes.ReplaceAll(v.Result, []byte{0}, []byte{' '})
	case longResultsAreCut:
		v.Result = v.Result[:min(len(v.Result), 1<<16)]
	case answersShareBuffers:
		b.buffer = append(b.buffer[:0], v.Result...)
		v.Result = b.buffer
	}
	return v
}

func (b *reference) expire(r *row, from time.Time, d time.Duration) {
	if b.fault == foreverOverflows && d == idem.Forever {
		d = time.Duration(int32(d & 0xffff))
	}
	r.forever = d == idem.Forever
	r.expiry = from.Add(d)
}

func (b *reference) win(q idem.ClaimRequest, attempt int, fingerprint []byte) *row {
	b.last++
	fence := b.last
	switch b.fault {
	case fencesArePerKey:
		fence = idem.Fence(attempt)
	case fencesAreReused:
		fence = 1
		for _, r := range b.rows {
			fence = max(fence, r.Fence+1)
		}
	}
	now := time.Now()
	r := &row{owner: q.Owner, claimed: now, lease: now.Add(q.Lease)}
	if b.fault == leaseInSeconds {
		r.lease = now.Add(q.Lease.Truncate(time.Second))
	}
	r.Record = idem.Record{State: idem.Pending, Fence: fence, Attempt: attempt, Fingerprint: fingerprint}
	b.expire(r, r.lease, q.Retention)
	if b.fault == retentionFromClaim {
		b.expire(r, now, q.Retention)
	}
	b.rows[b.key(q.Key)] = r
	return r
}

func (b *reference) Claim(ctx context.Context, q idem.ClaimRequest) (idem.ClaimResult, error) {
	if b.fault == claimFails {
		return idem.ClaimResult{}, errBroken
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	answer := func(s idem.ClaimStatus, r *row) (idem.ClaimResult, error) {
		over := s == idem.ClaimWon && r.takenOver && b.fault != takeoverIsForgotten
		return idem.ClaimResult{Status: s, TakenOver: over, Record: b.view(r)}, nil
	}
	r := b.find(q.Key)
	if q.Replace != 0 {
		switch {
		case r == nil && b.fault == replaceClaimsAbsent:
		case r == nil:
			return idem.ClaimResult{Status: idem.ClaimInterrupted}, nil
		case r.Fence == q.Replace || b.fault == replaceIsBlind:
			b.pause(replaceInTwoSteps)
			if b.fault == replaceBringsFingerprint {
				r.Fingerprint = q.Fingerprint
			}
			r = b.win(q, r.Attempt+1, r.Fingerprint)
			r.takenOver = b.fault == replaceIsTakeover
			return answer(idem.ClaimWon, r)
		case b.fault != replaceTakesOver:
			q.Takeover = false
		}
	}
	if r == nil {
		stale := b.rows[b.key(q.Key)]
		if stale == nil {
			b.pause(claimInTwoSteps)
		} else {
			b.pause(reclaimInTwoSteps)
		}
		attempt := 1
		if b.fault == expiredIsTakenOver && stale != nil {
			attempt = stale.Attempt + 1
		}
		return answer(idem.ClaimWon, b.win(q, attempt, q.Fingerprint))
	}
	known := len(q.Fingerprint) > 0 && len(r.Fingerprint) > 0
	live := time.Now().Before(r.lease)
	switch b.fault {
	case unknownConflicts:
		known = true
	case pendingNeverConflicts:
		known = known && (r.State != idem.Pending || !live)
	case lapsedNeverConflicts:
		known = known && (r.State != idem.Pending || live)
	case completedNeverConflicts:
		known = known && r.State != idem.Completed
	}
	switch {
	case r.State == idem.Pending && r.owner == q.Owner && b.fault != ownClaimIsForgotten &&
		(live || b.fault != ownLapsedIsForgotten):
		if b.fault != ownLeaseIsKept {
			r.lease = time.Now().Add(q.Lease)
		}
		return answer(idem.ClaimWon, r)
	case known && !bytes.Equal(q.Fingerprint, r.Fingerprint):
		return answer(idem.ClaimConflict, r)
	case r.State == idem.Completed:
		return answer(idem.ClaimCompleted, r)
	case (live || b.fault == lapsedStaysPending) && b.fault != liveIsTakenOver:
		r.waiting = r.waiting || q.Waiting
		return answer(idem.ClaimPending, r)
	case !q.Takeover && b.fault != lapsedIsAlwaysTakenOver:
		return answer(idem.ClaimInterrupted, r)
	}
	b.pause(takeoverInTwoSteps)
	attempt := r.Attempt + 1
	if b.fault == attemptIsNotCounted {
		attempt = r.Attempt
	}
	if len(r.Fingerprint) > 0 && b.fault != takeoverBringsFingerprint {
		q.Fingerprint = r.Fingerprint
	}
	fence := r.Fence
	r = b.win(q, attempt, q.Fingerprint)
	r.takenOver = true
	if b.fault == takeoverKeepsFence {
		r.Fence = fence
	}
	if b.fault == takeoverIsForgotten {
		return idem.ClaimResult{Status: idem.ClaimWon, TakenOver: true, Record: b.view(r)}, nil
	}
	return answer(idem.ClaimWon, r)
}

func (b *reference) Complete(ctx context.Context, c idem.Completion) (bool, error) {
	if b.fault == completeFails {
		return false, errBroken
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.held(c.Key, c.Fence, completeIsUnfenced)
	if r == nil || ctx.Err() != nil && b.fault == cancelledIsLost || b.fault == lapsedCannotComplete && !time.Now().Before(r.lease) {
		return false, nil
	}
	if r.State == idem.Completed && b.fault != completingTwiceOverwrites {
		return b.fault != completeIsForgotten, nil
	}
	waiting := r.waiting
	b.pause(waitersAreCountedEarly)
	if b.fault == cancelledIsHalfDone {
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		r.State = idem.Completed
		b.expire(r, time.Now(), c.TTL)
		b.pause(cancelledIsHalfDone)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	if b.fault == completeInTwoSteps {
		b.pause(completeInTwoSteps)
		r = b.find(c.Key)
	}
	if b.fault == emptyIsNoResult && len(c.Result) == 0 {
		return true, nil
	}
	r.State, r.Result = idem.Completed, c.Result
	if b.fault == ttlInWrongUnit {
		c.TTL /= 1000
	}
	from := time.Now()
	if b.fault == ttlFromClaim {
		from = r.claimed
	}
	b.expire(r, from, c.TTL)
	if b.fault != completionWakesNobody && (b.fault != waitersAreCountedEarly || waiting) {
		b.wake(c.Key)
	}
	return true, nil
}

func (b *reference) Release(ctx context.Context, key string, fence idem.Fence) (bool, error) {
	if b.fault == releaseFails {
		return false, errBroken
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.held(key, fence, releaseIsUnfenced)
	if r == nil || b.fault == completedIsNotReleased && r.State == idem.Completed {
		return b.fault == releaseIsAlwaysHeld, nil
	}
	b.pause(releaseInTwoSteps)
	if b.fault == releaseOnlyLapses {
		r.lease = time.Now()
	} else {
		delete(b.rows, b.key(key))
	}
	if b.fault != releaseWakesNobody {
		b.wake(key)
	}
	return true, nil
}

func (b *reference) Extend(ctx context.Context, x []idem.Extension) ([]bool, error) {
	if b.fault == extendFails {
		return nil, errBroken
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	held := make([]bool, 0, len(x))
	for _, x := range x {
		r := b.held(x.Key, x.Fence, extendIsUnfenced)
		if r == nil && b.fault == extendAnswersOnlyHeld || x.Lease <= 0 && b.fault == extendEndsNothing {
			continue
		}
		if r != nil && b.fault == lapsedCannotExtend && !time.Now().Before(r.lease) {
			r = nil
		}
		held = append(held, r != nil)
		if r == nil {
			continue
		}
		b.pause(extendInTwoSteps)
		switch {
		case b.fault == extendPostponesExpiry && r.State == idem.Completed:
			r.expiry = time.Now().Add(x.Lease)
		case b.fault == extendAddsUp:
			r.lease = r.lease.Add(x.Lease)
		default:
			r.lease = time.Now().Add(x.Lease)
		}
		if b.fault == extendRestartsAge {
			r.claimed = time.Now()
		}
	}
	if b.fault == extendAnswersBackwards {
		for i, j := 0, len(held)-1; i < j; i, j = i+1, j-1 {
			held[i], held[j] = held[j], held[i]
		}
	}
	return held, nil
}

func (b *reference) Lookup(ctx context.Context, key string) (idem.Record, bool, error) {
	if b.fault == lookupFails {
		return idem.Record{}, false, errBroken
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.find(key)
	if b.fault == lookupFindsExpired {
		r = b.rows[b.key(key)]
	}
	if r == nil {
		return idem.Record{}, false, nil
	}
	return b.view(r), true, nil
}

func (b *reference) Sweep(ctx context.Context, limit int) (int, error) {
	if b.fault == sweepFails {
		return 0, errBroken
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var keys []string
	for key, r := range b.rows {
		lapsed := r.State == idem.Pending && !time.Now().Before(r.lease)
		switch {
		case len(keys) == limit && b.fault != sweepIgnoresLimit:
		case b.expired(r),
			lapsed && b.fault == sweepDeletesRetained,
			r.State == idem.Pending && !r.forever && !time.Now().Before(r.expiry) && b.fault == sweepDeletesLive,
			r.forever && b.fault == sweepDeletesForever && r.State == idem.Completed:
			keys = append(keys, key)
		}
	}
	if b.fault == sweepDoesNothing {
		return 0, nil
	}
	b.pause(sweepWithoutAnotherLook)
	for _, key := range keys {
		delete(b.rows, key)
	}
	return len(keys), nil
}

func (b *reference) Watch(key string) (<-chan struct{}, func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fault == watchesNothing {
		return nil, func() {}
	}
	changed := make(chan struct{})
	b.watches[key] = append(b.watches[key], changed)
	return changed, func() {}
}

func (b *reference) wake(key string) {
	for _, changed := range b.watches[key] {
		close(changed)
	}
	delete(b.watches, key)
}
