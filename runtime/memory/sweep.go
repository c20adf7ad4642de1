package memory

import (
	"context"

	idem "github.com/idemgen/idem/runtime"
)

// sweepStep is how many records a sweep looks at before it goes on to the next
// shard. Locking the same one again at once would shut out whoever waits for
// it, until the mutex notices that they starve.
const sweepStep = 4

// Sweep implements idem.Backend. It goes from shard to shard, round after
// round, until one round finds nothing that is due, so its cost grows with what
// it deletes, not with what is kept. Successive sweeps begin at successive
// shards. If ctx ends it returns how many it deleted until then.
func (b *Backend) Sweep(ctx context.Context, limit int) (deleted int, err error) {
	next := b.sweeps.Add(1)
	for idle := 0; idle < len(b.shards) && deleted < limit; next++ {
		if err := ctx.Err(); err != nil {
			return deleted, err
		}
		s := &b.shards[next%uint64(len(b.shards))]
		n, more := s.sweep(b, min(sweepStep, limit-deleted))
		deleted += n
		if more {
			idle = 0
		} else {
			idle++
		}
	}
	return deleted, nil
}

// sweep looks at up to step records that may have expired and deletes those
// that have. more is false if none is left.
func (s *shard) sweep(b *Backend, step int) (deleted int, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := b.now()
	for range step {
		r := s.due(now)
		if r == nil {
			return deleted, false
		}
		if end := r.expiry(); r.state == idem.Pending && now < end {
			s.pending.postpone(end)
			continue
		}
		s.remove(r)
		deleted++
	}
	return deleted, true
}

// due returns a record whose entry is due, or nil if there is none.
func (s *shard) due(now instant) *record {
	switch {
	case len(s.complete) > 0 && s.complete[0].due <= now:
		return s.complete[0].record
	case len(s.pending) > 0 && s.pending[0].due <= now:
		return s.pending[0].record
	default:
		return nil
	}
}
