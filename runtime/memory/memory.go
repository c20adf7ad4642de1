// Package memory is the default backend: it keeps the records of one process
// in that process, and loses them with it.
//
// Several stores of a process may share one backend. Fences begin at 1 in
// each backend, so after a restart they begin again: a system downstream that
// remembers fences needs a backend that outlives the process.
package memory

import (
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// maxShards is a power of two well above the number of processors that could
// meet in one shard.
const maxShards = 64

// perShard is the least share of a capacity that a shard is given: smaller
// ones would fill unevenly, and evict long before the whole is full.
const perShard = 1024

// A Backend keeps records in maps. Its methods hold one lock for a moment,
// and never all locks together.
type Backend struct {
	start  time.Time // where the backend's clock reads zero
	seed   maphash.Seed
	fence  atomic.Int64
	sweeps atomic.Uint64 // where the next sweep begins
	shards []shard
}

var (
	_ idem.Backend  = (*Backend)(nil)
	_ idem.Local    = (*Backend)(nil)
	_ idem.Notifier = (*Backend)(nil)
)

// An Option changes what New makes.
type Option func(*options)

type options struct{ capacity int }

// WithCapacity keeps at most n completed records: one more drives out the one
// that would have expired first. Whoever repeats the call of an evicted record
// executes it again, so n is a guard against running out of memory, not a
// tuning knob. Pending records are neither counted nor evicted. A large n is
// divided among the shards, and records begin to go slightly before n is
// reached. Zero or less, the default, sets no bound.
func WithCapacity(n int) Option {
	return func(o *options) { o.capacity = n }
}

// New returns an empty backend.
func New(opts ...Option) *Backend {
	var o options
	for _, option := range opts {
		option(&o)
	}
	shards := maxShards
	for o.capacity > 0 && shards > 1 && o.capacity/shards < perShard {
		shards /= 2
	}
	b := &Backend{start: time.Now(), seed: maphash.MakeSeed(), shards: make([]shard, shards)}
	for i := range b.shards {
		b.shards[i].records = make(map[string]*record)
		b.shards[i].capacity = o.capacity / shards
	}
	return b
}

// Local tells the store that no method blocks.
func (b *Backend) Local() {}

// A shard holds the records of the keys that hash to it.
type shard struct {
	mu       sync.Mutex
	records  map[string]*record
	pending  queue // pending records that will expire
	complete queue // completed records; those kept forever only if capacity is set
	capacity int   // of completed records, 0 or less for no bound
	watches  map[string]*watch

	_ [64]byte // so that neighbours share no cache line
}

// shard returns the shard of key, locked.
func (b *Backend) shard(key string) *shard {
	s := &b.shards[maphash.String(b.seed, key)&uint64(len(b.shards)-1)]
	s.mu.Lock()
	return s
}

// An instant is a time in nanoseconds since the backend was made.
type instant int64

const never instant = math.MaxInt64

// now reads the monotonic clock.
func (b *Backend) now() instant { return instant(time.Since(b.start)) }

// after returns the instant d later, or never if that cannot be told. A
// negative d counts as zero.
func (t instant) after(d time.Duration) instant {
	if d > time.Duration(never-t) {
		return never
	}
	return t + instant(max(d, 0))
}

// until returns how long it is to u.
func (t instant) until(u instant) time.Duration {
	if u == never {
		return idem.Forever
	}
	return time.Duration(u - t)
}
