package idem

import (
	"fmt"
	"sync"
	"time"
)

// leases renews the running claims of a store. There is no goroutine while
// nothing is due: a timer is set for the claim that nears a third of its lease
// first, and its function renews all that do, in one call of the backend.
type leases struct {
	mu      sync.Mutex
	held    []*execution
	timer   *time.Timer
	at      time.Time // when timer fires; zero if it is not set
	beating bool      // a renewal is under way
	resume  time.Time // no renewal before: the last one failed
	stopped bool
}

// hold begins to renew x. Its renewed field says when the claim was sent.
func (s *Store) hold(x *execution) {
	l := &s.leases
	l.mu.Lock()
	defer l.mu.Unlock()
	x.slot = len(l.held)
	l.held = append(l.held, x)
	l.arm(s, x.renewed.Add(x.lease/3))
}

// drop ends the renewal of x.
func (l *leases) drop(x *execution) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x.slot < 0 {
		return
	}
	last := len(l.held) - 1
	l.held[x.slot] = l.held[last]
	l.held[x.slot].slot = x.slot
	l.held[last] = nil
	l.held = l.held[:last]
	x.slot = -1
}

// arm sets the timer to fire at t, or earlier if it is already set so.
func (l *leases) arm(s *Store, t time.Time) {
	if l.stopped || !l.at.IsZero() && !t.Before(l.at) {
		return
	}
	l.at = t
	if l.timer == nil {
		l.timer = time.AfterFunc(time.Until(t), func() { s.chore(s.tick) })
		return
	}
	l.timer.Reset(time.Until(t))
}

func (l *leases) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	if l.timer != nil {
		l.timer.Stop()
	}
	for _, x := range l.held {
		x.cancel(ErrClosed)
	}
}

// tick declares lost what could not be renewed in time, renews what is due, and
// sets the timer again. A renewal that hangs does not keep the next tick from
// declaring claims lost: each tick has a goroutine of its own, and one renewal
// at a time is under way.
func (s *Store) tick() {
	l := &s.leases
	now := time.Now()
	var due, lost []*execution
	l.mu.Lock()
	l.at = time.Time{}
	for _, x := range l.held {
		switch {
		case x.lost:
		case !now.Before(x.renewed.Add(x.lease)):
			x.lost = true
			lost = append(lost, x)
		// Claims that are nearly due go along, so that claims begun at about
		// the same time share a call from then on.
		case !l.beating && !now.Before(l.due(x).Add(-x.lease/12)):
			due = append(due, x)
		}
	}
	if len(due) > 0 {
		l.beating = true
	}
	l.rearm(s)
	l.mu.Unlock()
	for _, x := range lost {
		x.cancel(ErrClaimLost)
	}
	if len(due) > 0 {
		s.renew(now, due)
	}
}

// due is when x is to be renewed.
func (l *leases) due(x *execution) time.Time {
	t := x.renewed.Add(x.lease / 3)
	if t.Before(l.resume) {
		return l.resume
	}
	return t
}

// rearm sets the timer for the next thing that is to happen to a claim. While
// a renewal is under way that is only the end of a lease.
func (l *leases) rearm(s *Store) {
	for _, x := range l.held {
		if x.lost {
			continue
		}
		next := x.renewed.Add(x.lease)
		if t := l.due(x); !l.beating && t.Before(next) {
			next = t
		}
		l.arm(s, next)
	}
}

// renew extends the claims in due and notes what came of it.
func (s *Store) renew(sent time.Time, due []*execution) {
	extensions := make([]Extension, len(due))
	shortest := due[0].lease
	for i, x := range due {
		extensions[i] = Extension{Key: x.key, Fence: x.fence, Lease: x.lease}
		shortest = min(shortest, x.lease)
	}
	ctx, cancel := s.detached(s.background)
	held, err := s.backend.Extend(ctx, extensions)
	cancel()
	if err == nil && len(held) != len(due) {
		err = fmt.Errorf("%d answers to %d extensions", len(held), len(due))
	}

	l := &s.leases
	var lost []*execution
	l.mu.Lock()
	l.beating = false
	l.resume = time.Time{}
	if err != nil {
		l.resume = time.Now().Add(min(shortest/12, time.Second))
	} else {
		for i, x := range due {
			switch {
			case x.slot < 0 || x.lost:
			case held[i]:
				x.renewed = sent
			default:
				x.lost = true
				lost = append(lost, x)
			}
		}
	}
	l.rearm(s)
	l.mu.Unlock()
	for _, x := range lost {
		x.cancel(ErrClaimLost)
	}
	if err != nil && s.background.Err() == nil {
		s.observe(ctx, Event{Kind: Faulted, Count: len(due), Err: &BackendError{Action: "extend", Err: err}})
	}
}
