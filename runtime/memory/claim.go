package memory

import (
	"bytes"
	"context"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// Claim implements idem.Backend. It fails only if ctx has ended, and then does
// nothing.
func (b *Backend) Claim(ctx context.Context, q idem.ClaimRequest) (idem.ClaimResult, error) {
	if err := ctx.Err(); err != nil {
		return idem.ClaimResult{}, err
	}
	s := b.shard(q.Key)
	defer s.mu.Unlock()
	now := b.now()
	r := s.find(q.Key, now)
	if r == nil {
		if q.Replace != 0 {
			return idem.ClaimResult{Status: idem.ClaimInterrupted}, nil
		}
		r = &record{key: q.Key, fingerprint: q.Fingerprint}
		s.records[q.Key] = r
		b.win(s, r, &q, now)
		return answer(idem.ClaimWon, r, now), nil
	}
	if q.Replace != 0 && r.fence == q.Replace {
		r.takenOver = false
		b.win(s, r, &q, now)
		return answer(idem.ClaimWon, r, now), nil
	}
	switch {
	case r.state == idem.Pending && r.owner == q.Owner:
		r.leaseEnd = now.after(q.Lease)
		return answer(idem.ClaimWon, r, now), nil
	case len(q.Fingerprint) > 0 && len(r.fingerprint) > 0 && !bytes.Equal(q.Fingerprint, r.fingerprint):
		return answer(idem.ClaimConflict, r, now), nil
	case r.state == idem.Completed:
		return answer(idem.ClaimCompleted, r, now), nil
	case r.live(now):
		return answer(idem.ClaimPending, r, now), nil
	case !q.Takeover || q.Replace != 0:
		return answer(idem.ClaimInterrupted, r, now), nil
	}
	if len(r.fingerprint) == 0 {
		r.fingerprint = q.Fingerprint
	}
	r.takenOver = true
	b.win(s, r, &q, now)
	return answer(idem.ClaimWon, r, now), nil
}

// win gives r to the claimant, under a new fence.
func (b *Backend) win(s *shard, r *record, q *idem.ClaimRequest, now instant) {
	s.leave(r)
	r.state = idem.Pending
	r.owner = q.Owner
	r.fence = idem.Fence(b.fence.Add(1))
	r.attempt++
	r.result = nil
	r.claimed = now
	r.leaseEnd = now.after(q.Lease)
	r.keepEnd = r.leaseEnd.after(q.Retention)
	s.enter(r)
	if r.attempt > 1 {
		s.wake(r.key)
	}
}

func answer(status idem.ClaimStatus, r *record, now instant) idem.ClaimResult {
	return idem.ClaimResult{
		Status:    status,
		TakenOver: status == idem.ClaimWon && r.takenOver,
		Record:    r.view(now),
	}
}

// Complete implements idem.Backend. The backend keeps the slice c.Result.
func (b *Backend) Complete(ctx context.Context, c idem.Completion) (held bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s := b.shard(c.Key)
	defer s.mu.Unlock()
	now := b.now()
	r := s.held(c.Key, c.Fence, now)
	if r == nil {
		return false, nil
	}
	if r.state == idem.Completed {
		return true, nil
	}
	s.leave(r)
	if s.capacity > 0 && len(s.complete) >= s.capacity {
		s.remove(s.complete[0].record)
	}
	r.state = idem.Completed
	r.result = c.Result
	r.keepEnd = now.after(c.TTL)
	s.enter(r)
	s.wake(c.Key)
	return true, nil
}

// Release implements idem.Backend.
func (b *Backend) Release(ctx context.Context, key string, fence idem.Fence) (held bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	s := b.shard(key)
	defer s.mu.Unlock()
	r := s.held(key, fence, b.now())
	if r == nil {
		return false, nil
	}
	s.remove(r)
	return true, nil
}

// Extend implements idem.Backend. It locks each claim's shard in turn: that
// the claims are renewed one after the other is visible to nobody.
func (b *Backend) Extend(ctx context.Context, x []idem.Extension) (held []bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	held = make([]bool, len(x))
	for i := range x {
		held[i] = b.extend(x[i].Key, x[i].Fence, x[i].Lease)
	}
	return held, nil
}

func (b *Backend) extend(key string, fence idem.Fence, lease time.Duration) (held bool) {
	s := b.shard(key)
	defer s.mu.Unlock()
	now := b.now()
	r := s.held(key, fence, now)
	if r == nil {
		return false
	}
	if r.state == idem.Completed {
		return true
	}
	r.leaseEnd = now.after(lease)
	if lease <= 0 {
		s.wake(key)
	}
	return true
}

// Lookup implements idem.Backend.
func (b *Backend) Lookup(ctx context.Context, key string) (r idem.Record, found bool, err error) {
	if err := ctx.Err(); err != nil {
		return idem.Record{}, false, err
	}
	s := b.shard(key)
	defer s.mu.Unlock()
	now := b.now()
	if r := s.find(key, now); r != nil {
		return r.view(now), true, nil
	}
	return idem.Record{}, false, nil
}
