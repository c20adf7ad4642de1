package memory

import (
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// A record is changed only under the lock of its shard.
type record struct {
	key         string
	fingerprint []byte
	result      []byte
	owner       idem.Owner
	fence       idem.Fence
	claimed     instant
	leaseEnd    instant
	keepEnd     instant // pending: the end of the retention; completed: of the TTL
	attempt     int32
	place       int32 // in the queue of its state, counted from 1; 0 if in none
	state       idem.State
	takenOver   bool
}

// live reports whether the record is pending and its holder is believed alive.
func (r *record) live(now instant) bool {
	return r.state == idem.Pending && now < r.leaseEnd
}

// expiry returns when the record ends. It lies at keepEnd or later.
func (r *record) expiry() instant {
	if r.state == idem.Pending {
		return max(r.keepEnd, r.leaseEnd)
	}
	return r.keepEnd
}

// view returns what others may see of the record.
func (r *record) view(now instant) idem.Record {
	v := idem.Record{
		State:       r.state,
		Fence:       r.fence,
		Attempt:     int(r.attempt),
		Fingerprint: r.fingerprint,
		Result:      r.result,
		Age:         time.Duration(now - r.claimed),
	}
	if r.state == idem.Pending {
		v.LeaseLeft = now.until(r.leaseEnd)
	} else {
		v.TTLLeft = now.until(r.keepEnd)
	}
	return v
}

// find returns the record of key, or nil if it is absent or expired.
func (s *shard) find(key string, now instant) *record {
	r := s.records[key]
	if r != nil && now >= r.expiry() {
		s.remove(r)
		return nil
	}
	return r
}

// held returns the record that has key and fence, or nil.
func (s *shard) held(key string, fence idem.Fence, now instant) *record {
	if r := s.find(key, now); r != nil && r.fence == fence {
		return r
	}
	return nil
}

// remove deletes r and wakes those who wait for it.
func (s *shard) remove(r *record) {
	s.leave(r)
	delete(s.records, r.key)
	s.wake(r.key)
}

// enter puts r into the queue of its state, if it has to be there.
func (s *shard) enter(r *record) {
	switch {
	case r.state == idem.Completed && (s.capacity > 0 || r.keepEnd != never):
		s.complete.push(r)
	case r.state == idem.Pending && r.keepEnd != never:
		s.pending.push(r)
	}
}

// leave takes r out of the queue of its state, if it is there.
func (s *shard) leave(r *record) {
	if r.place == 0 {
		return
	}
	if r.state == idem.Completed {
		s.complete.remove(r)
	} else {
		s.pending.remove(r)
	}
}
