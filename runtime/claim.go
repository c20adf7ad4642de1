package idem

import (
	"context"
	"math/rand/v2"
	"time"
)

// Polling for a record that another process holds begins with firstPoll and
// slows down to lastPoll. Every pause is shortened by up to half at random, so
// that waiters do not march in step.
const (
	firstPoll = 5 * time.Millisecond
	lastPoll  = time.Second
)

// claim asks the backend for r. The caller leaves at once when ctx ends, and
// what the claim came to after that is given back.
func (s *Store) claim(ctx context.Context, r ClaimRequest) (ClaimResult, error) {
	if s.local || ctx.Done() == nil {
		return s.askTwice(ctx, r)
	}
	return detach(ctx, s, func() (ClaimResult, error) { return s.askTwice(ctx, r) }, func(late ClaimResult) {
		if late.Status == ClaimWon {
			s.release(ctx, r.Key, late.Record.Fence)
		}
	})
}

// detach runs ask to its end. The caller leaves at once when ctx ends, and
// undo gets what ask comes to after that.
func detach[A any](ctx context.Context, s *Store, ask func() (A, error), undo func(A)) (A, error) {
	type answer struct {
		value A
		err   error
	}
	var none A
	answers := make(chan answer)
	left := make(chan struct{})
	if !s.begin() {
		return none, ErrClosed
	}
	go func() {
		defer s.chores.Done()
		value, err := ask()
		select {
		case answers <- answer{value, err}:
		case <-left:
			if err == nil {
				undo(value)
			}
		}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		close(left)
		return none, ctx.Err()
	}
}

// askTwice sends r, and once more if that failed: the answer may have been
// lost with a connection, and the owner recognises its own claim. If both
// fail, a claim that was won unknown to anybody is taken back in the
// background, so that it need not lapse.
func (s *Store) askTwice(ctx context.Context, r ClaimRequest) (ClaimResult, error) {
	result, err := s.ask(ctx, r)
	if err != nil {
		result, err = s.ask(ctx, r)
	}
	if err != nil {
		s.withdraw(r)
	}
	return result, err
}

func (s *Store) ask(ctx context.Context, r ClaimRequest) (ClaimResult, error) {
	ctx, cancel := s.detached(ctx)
	defer cancel()
	if !s.local {
		defer context.AfterFunc(s.background, cancel)()
	}
	return s.backend.Claim(ctx, r)
}

// waiter waits until a record that another process holds may have changed.
type waiter struct {
	store   *Store
	key     string
	pause   time.Duration
	changed <-chan struct{}
	stop    func()
	since   time.Time
}

// watch begins to watch the record, if the backend can tell of changes. It
// reports true if the claim is to be sent again before the first wait, so
// that no change goes unnoticed.
func (w *waiter) watch() bool {
	if !w.since.IsZero() {
		return false
	}
	w.since = time.Now()
	w.pause = firstPoll
	if w.store.notifier != nil {
		w.changed, w.stop = w.store.notifier.Watch(w.key)
	}
	return w.changed != nil
}

// wait returns when the record may have changed or its lease has lapsed, or
// with an error when ctx ends or the store stops. It reports false if the
// deadline, unless zero, came first.
func (w *waiter) wait(ctx context.Context, leaseLeft time.Duration, deadline time.Time) (bool, error) {
	pause := max(leaseLeft, 0) + time.Millisecond
	if w.changed == nil {
		pause = min(pause, w.pause-rand.N(w.pause/2+1))
		w.pause = min(2*w.pause, lastPoll)
	}
	inTime := true
	if !deadline.IsZero() {
		if left := time.Until(deadline); left <= pause {
			pause, inTime = left, false
		}
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return inTime, nil
	case _, open := <-w.changed:
		if !open {
			w.changed = nil // polls from now on
		}
		return true, nil
	case <-ctx.Done():
		return true, ctx.Err()
	case <-w.store.background.Done():
		return true, ErrClosed
	}
}

// end stops watching and returns how long the wait took, 0 if there was none.
func (w *waiter) end() time.Duration {
	if w.stop != nil {
		w.stop()
	}
	if w.since.IsZero() {
		return 0
	}
	return time.Since(w.since)
}
