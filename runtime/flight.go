package idem

import (
	"bytes"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"time"
)

const shardCount = 64

var shardSeed = maphash.MakeSeed()

// A shard is a part of the in-process layer: the calls in flight, and the
// results known for sure.
type shard struct {
	mu      sync.Mutex
	flights map[string]*flight
	recent  recent
}

func (s *Store) shard(key string) *shard {
	return &s.shards[maphash.String(shardSeed, key)%shardCount]
}

// verdict is how a flight ended.
type verdict uint8

const (
	flying   verdict = iota
	arrived          // result holds the recorded outcome
	failed           // err is everybody's
	stepDown         // only the leader failed: another caller takes the lead
)

// A flight is a call that leads for its key in this process, and that others
// join. All fields but key and fingerprint belong to the shard's lock until
// the verdict is in; then they do not change any more.
type flight struct {
	key         string
	fingerprint []byte

	verdict   verdict
	result    result
	err       error
	followers int

	// confirmed says that the backend holds a record with this fingerprint, so
	// that calls with other arguments are wrong; until then the leader may be.
	// executing says that the method runs here.
	confirmed, executing bool

	done    chan struct{} // closed with the verdict; made by the first who waits
	decided chan struct{} // closed when confirmed or done; made by the first who waits
}

// result is an outcome in this process.
type result struct {
	value    any    // *T that is never modified, or nil if T is copied by decoding
	final    error  // beside value: the method's error, if it is an outcome
	envelope []byte // as recorded
	attempt  int
	fence    Fence
}

// boarding is what a caller finds when it comes to the in-process layer.
type boarding struct {
	kind        boardingKind
	flight      *flight         // leads, follows
	signal      <-chan struct{} // follows: the verdict is in; undecided: come again
	result      result          // known, mismatch
	fingerprint []byte          // mismatch: of the arguments that the key stands for
}

type boardingKind uint8

const (
	leads     boardingKind = iota // the flight is the caller's own
	follows                       // another call of this process leads
	known                         // the outcome is known here
	mismatch                      // the key stands for other arguments
	undecided                     // a call with other arguments leads, but holds no claim yet
)

// board joins the flight of key, or begins one.
func (sh *shard) board(key string, fingerprint []byte) boarding {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if f := sh.flights[key]; f != nil {
		same := sameArguments(f.fingerprint, fingerprint)
		switch {
		case same && f.verdict == arrived:
			return boarding{kind: known, result: f.result}
		case same:
			f.followers++
			if f.done == nil {
				f.done = make(chan struct{})
			}
			return boarding{kind: follows, flight: f, signal: f.done}
		case f.confirmed:
			return boarding{kind: mismatch, fingerprint: f.fingerprint}
		default:
			if f.decided == nil {
				f.decided = make(chan struct{})
			}
			return boarding{kind: undecided, signal: f.decided}
		}
	}
	if e := sh.recent.get(key); e != nil {
		if !sameArguments(e.fingerprint, fingerprint) {
			return boarding{kind: mismatch, result: e.result, fingerprint: e.fingerprint}
		}
		return boarding{kind: known, result: e.result}
	}
	f := &flight{key: key, fingerprint: fingerprint}
	sh.flights[key] = f
	return boarding{kind: leads, flight: f}
}

// sameArguments reports whether two fingerprints do not contradict each other.
func sameArguments(a, b []byte) bool {
	return len(a) == 0 || len(b) == 0 || bytes.Equal(a, b)
}

// confirm notes that the backend holds a record for f.
func (sh *shard) confirm(f *flight, executing bool) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	f.confirmed, f.executing = true, executing
	f.decide()
}

func (f *flight) decide() {
	if f.decided != nil {
		close(f.decided)
		f.decided = nil
	}
}

// executes reports whether the method runs in f.
func (sh *shard) executes(f *flight) bool {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return f.executing
}

// wanted reports whether a result of f is of use beyond its leader.
func (sh *shard) wanted(f *flight) bool {
	if sh.recent.limit > 0 {
		return true
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return f.followers > 0
}

// land ends f, once. Unless it stays, as one does whose result is not recorded
// yet, its key is free for the next flight.
func (sh *shard) land(f *flight, v verdict, r result, err error, stays bool) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if f.verdict != flying {
		return
	}
	f.verdict, f.result, f.err = v, r, err
	f.decide()
	if f.done != nil {
		close(f.done)
	}
	if !stays {
		sh.remove(f)
	}
}

// remove takes f out of the table, if it is still the flight of its key.
func (sh *shard) remove(f *flight) {
	if sh.flights[f.key] == f {
		delete(sh.flights, f.key)
	}
}

// recent holds completed records for a short while, so that a replay need not
// ask the backend. Only what cannot change any more enters.
type recent struct {
	limit   int
	entries map[string]*recentEntry
	ring    []*recentEntry // in order of arrival; next is the oldest once full
	next    int
}

type recentEntry struct {
	key         string
	fingerprint []byte
	result      result
	until       time.Time
}

func (c *recent) get(key string) *recentEntry {
	e := c.entries[key]
	if e == nil {
		return nil
	}
	if !time.Now().Before(e.until) {
		delete(c.entries, key)
		return nil
	}
	return e
}

// put keeps a result until the given time, in the place of the oldest.
func (c *recent) put(key string, fingerprint []byte, r result, until time.Time) {
	if c.limit == 0 || !time.Now().Before(until) {
		return
	}
	e := &recentEntry{key, fingerprint, r, until}
	if c.entries == nil {
		c.entries = make(map[string]*recentEntry)
	}
	c.entries[key] = e
	if len(c.ring) < c.limit {
		c.ring = append(c.ring, e)
		return
	}
	if old := c.ring[c.next]; c.entries[old.key] == old {
		delete(c.entries, old.key)
	}
	c.ring[c.next] = e
	c.next = (c.next + 1) % c.limit
}

// remember keeps the outcome of a key in this process.
func (s *Store) remember(key string, fingerprint []byte, r result, asked time.Time, ttl time.Duration) {
	if s.options.cacheEntries == 0 {
		return
	}
	sh := s.shard(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.recent.put(key, fingerprint, r, asked.Add(min(ttl, s.options.cacheAge)))
}

// abort lands all flights with err, whatever their leaders still do.
func (s *Store) abort(err error) {
	for i := range s.shards {
		sh := &s.shards[i]
		sh.mu.Lock()
		flights := slices.Collect(maps.Values(sh.flights))
		sh.mu.Unlock()
		for _, f := range flights {
			sh.land(f, failed, result{}, err, false)
		}
	}
}

// drop forgets what this process knows of key: the recent result, and a
// flight that has landed but whose result is not recorded yet.
func (s *Store) drop(key string) {
	sh := s.shard(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	delete(sh.recent.entries, key)
	if f := sh.flights[key]; f != nil && f.verdict != flying {
		delete(sh.flights, key)
	}
}
