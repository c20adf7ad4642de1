package idem

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
)

// A Store makes calls idempotent. It joins the concurrent calls of this
// process, and keeps claims and results in a Backend. One store serves any
// number of methods; what differs between methods is told with each of them.
// Create it with New, and Close it.
type Store struct {
	backend    Backend
	notifier   Notifier   // or nil
	transactor Transactor // or nil
	local      bool       // the backend does not block
	comparable bool       // backends can be compared by ==
	options    options

	calls   calls
	leases  leases
	sweeper sweeper
	shards  [shardCount]shard

	// background ends when the store stops waiting for what still runs.
	background context.Context
	stop       context.CancelCauseFunc

	mu      sync.Mutex
	errands map[*errand]struct{}
	stopped bool
	chores  sync.WaitGroup // goroutines and timer functions that run now
}

const defaultSweepBatch = 1000

type options struct {
	ttl, lease    time.Duration
	timeout       time.Duration
	observer      Observer
	scope         func(context.Context) (string, error)
	resultLimit   int
	failOpen      bool
	strict        bool
	cacheEntries  int
	cacheAge      time.Duration
	sweepInterval time.Duration
	sweepBatch    int
}

// An Option changes a store's defaults.
type Option func(*options)

// WithTTL sets how long results are replayed where the method does not say.
// The default is 24 hours; Forever keeps them without end.
func WithTTL(d time.Duration) Option { return func(o *options) { o.ttl = d } }

// WithLease sets how long a silent holder is believed alive where the method
// does not say. The default is 30 seconds. Claims are renewed at a third.
func WithLease(d time.Duration) Option { return func(o *options) { o.lease = d } }

// WithBackendTimeout bounds each call of a backend that is not in this
// process. The default is 5 seconds.
func WithBackendTimeout(d time.Duration) Option { return func(o *options) { o.timeout = d } }

// WithObserver tells observer what happens.
func WithObserver(observer Observer) Option { return func(o *options) { o.observer = observer } }

// WithScope makes what scope returns, usually the tenant, a part of every key,
// so that no tenant can reach the results of another. An empty scope is
// ErrNoScope; an error of scope is returned. Nothing runs then.
func WithScope(scope func(context.Context) (string, error)) Option {
	return func(o *options) { o.scope = scope }
}

// WithResultLimit sets how many bytes a recorded result may take. A larger one
// is returned to its caller but not kept: replays get ErrResultUnavailable.
// The default is 1 MiB.
func WithResultLimit(bytes int) Option { return func(o *options) { o.resultLimit = bytes } }

// WithFailOpen runs methods without protection while the backend fails to
// answer a claim. Without it such calls fail with a *BackendError.
func WithFailOpen() Option { return func(o *options) { o.failOpen = true } }

// WithStrict gives the first caller, too, its result as a replay would give
// it, decoded from the record. What does not decode is then a *DecodeError on
// the first call, in tests, and not only on the first replay.
func WithStrict() Option { return func(o *options) { o.strict = true } }

// WithCache sets how many completed records this process keeps to replay them
// without asking the backend, and for how long at most. The age bounds how
// long the Forget of another process goes unnoticed. The default is 4096
// records for 5 seconds; 0 records turn it off.
func WithCache(records int, age time.Duration) Option {
	return func(o *options) { o.cacheEntries, o.cacheAge = records, age }
}

// WithSweep sets how often expired records are deleted, and how many at once.
// The default is 1000 each minute, repeated at once while there are more. An
// interval of 0 turns it off; Sweep can then be called by hand.
func WithSweep(interval time.Duration, batch int) Option {
	return func(o *options) { o.sweepInterval, o.sweepBatch = interval, batch }
}

// New returns a store that keeps its records in backend. It panics if the
// backend is nil or an option makes no sense, which is a mistake in the
// program.
func New(backend Backend, opts ...Option) *Store {
	o := options{
		ttl:           24 * time.Hour,
		lease:         30 * time.Second,
		timeout:       5 * time.Second,
		resultLimit:   1 << 20,
		cacheEntries:  4096,
		cacheAge:      5 * time.Second,
		sweepInterval: time.Minute,
		sweepBatch:    defaultSweepBatch,
	}
	for _, opt := range opts {
		opt(&o)
	}
	if err := o.check(backend); err != nil {
		panic("idem.New: " + err.Error())
	}
	s := &Store{backend: backend, options: o, errands: map[*errand]struct{}{}}
	s.notifier, _ = backend.(Notifier)
	s.transactor, _ = backend.(Transactor)
	_, s.local = backend.(Local)
	s.comparable = reflect.TypeOf(backend).Comparable()
	s.background, s.stop = context.WithCancelCause(context.Background())
	s.calls.idle = make(chan struct{})
	for i := range s.shards {
		s.shards[i].flights = map[string]*flight{}
		s.shards[i].recent.limit = (o.cacheEntries + shardCount - 1) / shardCount
	}
	return s
}

func (o *options) check(backend Backend) error {
	switch {
	case backend == nil:
		return errors.New("the backend is nil")
	case o.ttl <= 0:
		return fmt.Errorf("WithTTL(%v): want a positive duration", o.ttl)
	case o.lease < time.Millisecond:
		return fmt.Errorf("WithLease(%v): want at least a millisecond", o.lease)
	case o.timeout <= 0:
		return fmt.Errorf("WithBackendTimeout(%v): want a positive duration", o.timeout)
	case o.resultLimit <= 0:
		return fmt.Errorf("WithResultLimit(%d): want a positive number of bytes", o.resultLimit)
	case o.cacheEntries < 0 || o.cacheEntries > 0 && o.cacheAge <= 0:
		return fmt.Errorf("WithCache(%d, %v): want a number of records and a positive age", o.cacheEntries, o.cacheAge)
	case o.sweepInterval < 0 || o.sweepInterval > 0 && o.sweepBatch <= 0:
		return fmt.Errorf("WithSweep(%v, %d): want an interval and a positive batch", o.sweepInterval, o.sweepBatch)
	default:
		return nil
	}
}

// newOwner makes the 128 random bits of a claimant. They need not be secret:
// they only tell one claim from another.
func newOwner() (o Owner) {
	binary.LittleEndian.PutUint64(o[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(o[8:], rand.Uint64())
	return o
}

func (s *Store) observe(ctx context.Context, e Event) {
	if s.options.observer != nil {
		s.options.observer.Observe(ctx, e)
	}
}

// detached returns a context for the store's own bookkeeping: it keeps the
// caller's values, ignores the caller's cancellation, and has a timeout of its
// own unless the backend cannot block.
func (s *Store) detached(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Done() != nil {
		ctx = context.WithoutCancel(ctx)
	}
	if s.local {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, s.options.timeout)
}

// calls counts the calls that run, so that Close can wait for them.
type calls struct {
	state atomic.Int64  // running calls, plus closing once Close was called
	idle  chan struct{} // closed when closing and none runs
	once  sync.Once
}

const closing = 1 << 62

// enter admits a call, unless the store is closing.
func (c *calls) enter() bool {
	if c.state.Add(1) >= closing {
		c.leave()
		return false
	}
	return true
}

func (c *calls) leave() {
	if c.state.Add(-1) == closing {
		c.once.Do(func() { close(c.idle) })
	}
}

// close refuses further calls. It reports false if that was done before.
func (c *calls) close() bool {
	for {
		n := c.state.Load()
		if n >= closing {
			return false
		}
		if c.state.CompareAndSwap(n, n+closing) {
			if n == 0 {
				c.once.Do(func() { close(c.idle) })
			}
			return true
		}
	}
}

// Close refuses new calls, lets the running ones settle until ctx ends, and
// records what is still unsettled. Executions that run longer have their
// context cancelled with cause ErrClosed, and waiting calls return ErrClosed.
// Its error names the keys whose results could not be recorded, and is ctx's
// if calls were still running. The backend is the caller's to close.
func (s *Store) Close(ctx context.Context) error {
	s.calls.close()
	var err error
	select {
	case <-s.calls.idle:
	case <-ctx.Done():
		err = fmt.Errorf("idem: the store was closed while calls were running: %w", context.Cause(ctx))
	}
	s.sweeper.stop()
	err = errors.Join(err, s.flush(ctx))
	s.stop(ErrClosed)
	s.abort(ErrClosed)
	s.leases.stop()
	s.chores.Wait()
	return err
}
