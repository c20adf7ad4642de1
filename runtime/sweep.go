package idem

import (
	"context"
	"sync"
	"time"
)

// sweeper deletes expired records at intervals, from the first claim on.
type sweeper struct {
	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
	once    sync.Once
}

// arm begins to sweep at intervals, if that was not done before.
func (w *sweeper) arm(s *Store) {
	if s.options.sweepInterval > 0 {
		w.once.Do(func() { w.again(s) })
	}
}

// again plans the next sweep.
func (w *sweeper) again(s *Store) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	w.timer = time.AfterFunc(s.options.sweepInterval, func() {
		s.chore(func() {
			if _, err := s.Sweep(s.background); err != nil && s.background.Err() == nil {
				s.observe(s.background, Event{Kind: Faulted, Err: err})
			}
			w.again(s)
		})
	})
}

func (w *sweeper) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

// Sweep deletes all records that have expired, in batches of the size set by
// WithSweep, and returns how many. A store does it by itself at intervals.
// Until then expired records take space and nothing else.
func (s *Store) Sweep(ctx context.Context) (deleted int, err error) {
	batch := s.options.sweepBatch
	if batch <= 0 {
		batch = defaultSweepBatch
	}
	start := time.Now()
	for {
		n, err := s.sweepBatch(ctx, batch)
		deleted += n
		if err != nil {
			return deleted, &BackendError{Action: "sweep", Err: err}
		}
		if n < batch {
			break
		}
	}
	if deleted > 0 {
		s.observe(ctx, Event{Kind: Swept, Count: deleted, Duration: time.Since(start)})
	}
	return deleted, nil
}

func (s *Store) sweepBatch(ctx context.Context, batch int) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.timeout)
	defer cancel()
	return s.backend.Sweep(ctx, batch)
}
