package idem

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// begin admits a goroutine of the store's own, unless the store has stopped.
// It must be followed by chores.Done.
func (s *Store) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return false
	}
	s.chores.Add(1)
	return true
}

// chore runs f, as the function of a timer, unless the store has stopped.
func (s *Store) chore(f func()) {
	if s.begin() {
		defer s.chores.Done()
		f()
	}
}

// An errand is a message to the backend that did not get through, and is sent
// again until it does, its time is up, or the store closes.
type errand struct {
	key  string
	send func(context.Context) error

	// completes says that the errand records a result, so that giving up is
	// worth an error.
	completes bool
	until     time.Time // give up then; zero: never
	pause     time.Duration
	timer     *time.Timer
}

// Errands that take back a claim are worth little, and an outage must not pile
// them up.
const maxWithdrawals = 1024

const (
	firstErrandPause = 20 * time.Millisecond
	lastErrandPause  = 5 * time.Second
)

// later sends e after a pause. It reports false if the store has stopped.
func (s *Store) later(e *errand) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped || !e.completes && len(s.errands) >= maxWithdrawals {
		return false
	}
	s.errands[e] = struct{}{}
	e.pause = max(firstErrandPause, min(2*e.pause, lastErrandPause))
	e.timer = time.AfterFunc(e.pause, func() { s.chore(func() { _ = s.deliver(s.background, e) }) })
	return true
}

// deliver sends e once, and plans the next time if that fails.
func (s *Store) deliver(ctx context.Context, e *errand) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.timeout)
	defer cancel()
	err := e.send(ctx)
	if err != nil && (e.until.IsZero() || time.Now().Before(e.until)) && s.later(e) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.errands, e)
	return err
}

// withdraw takes back, in the background, the claim that r may have won.
func (s *Store) withdraw(r ClaimRequest) {
	r.Takeover, r.Waiting = false, false
	s.later(&errand{key: r.Key, until: time.Now().Add(r.Lease), send: func(ctx context.Context) error {
		result, err := s.backend.Claim(ctx, r)
		if err != nil || result.Status != ClaimWon {
			return err
		}
		_, err = s.backend.Release(ctx, r.Key, result.Record.Fence)
		return err
	}})
}

// release gives a claim back, later if not now, and reports whether it was
// still held. If that cannot be said it reports true.
func (s *Store) release(ctx context.Context, key string, fence Fence) (held bool) {
	detached, cancel := s.detached(ctx)
	defer cancel()
	held, err := s.backend.Release(detached, key, fence)
	if err == nil {
		return held
	}
	s.observe(ctx, Event{Kind: Faulted, Key: key, Fence: fence, Err: &BackendError{Key: key, Action: "release", Err: err}})
	s.later(&errand{key: key, until: time.Now().Add(s.options.lease), send: func(ctx context.Context) error {
		_, err := s.backend.Release(ctx, key, fence)
		return err
	}})
	return true
}

// flush sends all errands one last time, and stops them. Its error names the
// keys whose results were not recorded.
func (s *Store) flush(ctx context.Context) error {
	s.mu.Lock()
	s.stopped = true
	errands := s.errands
	s.errands = nil
	s.mu.Unlock()

	errs := make(chan error, len(errands))
	var wg sync.WaitGroup
	for e := range errands {
		e.timer.Stop()
		wg.Go(func() {
			if err := s.deliver(ctx, e); err != nil && e.completes {
				errs <- fmt.Errorf("idem: %s: the result was not recorded before the store closed: %w", e.key, err)
			}
		})
	}
	wg.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}
