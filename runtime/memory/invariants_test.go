package memory

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// Whatever is done in whatever order, each record is where it belongs, and at
// the end nothing is left but what lasts forever.
func TestInvariants(t *testing.T) {
	for _, capacity := range []int{0, 5} {
		for seed := range uint64(10) {
			t.Run(fmt.Sprint(capacity, "/", seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := &walk{
						T: t, b: New(WithCapacity(capacity)), rand: rand.New(rand.NewPCG(seed, 0)),
						fences: make(map[string]idem.Fence), stops: make(map[int]func()),
					}
					w.b.shards = w.b.shards[:1] // so that records meet
					for i := range 1000 {
						w.step(i)
						w.check()
					}
					w.end()
				})
			})
		}
	}
}

// A walk does what comes next at random.
type walk struct {
	*testing.T
	b      *Backend
	rand   *rand.Rand
	fences map[string]idem.Fence // of the last claim that was won
	stops  map[int]func()
}

// duration returns one that is short, long, or Forever.
func (w *walk) duration() time.Duration {
	if w.rand.IntN(10) == 0 {
		return idem.Forever
	}
	return time.Duration(w.rand.IntN(100)) * time.Second
}

func (w *walk) step(i int) {
	var err error
	ctx, key := w.Context(), fmt.Sprint(w.rand.IntN(40))
	switch w.rand.IntN(9) {
	case 0, 1, 2:
		q := idem.ClaimRequest{Key: key, Owner: idem.Owner{byte(i), byte(i >> 8)}, Lease: w.duration(), Retention: w.duration(), Takeover: true}
		if w.rand.IntN(4) == 0 {
			q.Replace = w.fences[key]
		}
		var got idem.ClaimResult
		if got, err = w.b.Claim(ctx, q); got.Status == idem.ClaimWon {
			w.fences[key] = got.Record.Fence
		}
	case 3, 4:
		_, err = w.b.Complete(ctx, idem.Completion{Key: key, Fence: w.fences[key], TTL: w.duration()})
	case 5:
		_, err = w.b.Release(ctx, key, w.fences[key])
	case 6:
		_, err = w.b.Extend(ctx, []idem.Extension{{Key: key, Fence: w.fences[key], Lease: w.duration()}})
	case 7:
		_, w.stops[i] = w.b.Watch(key)
		for j, stop := range w.stops {
			if w.rand.IntN(3) == 0 {
				stop()
				delete(w.stops, j)
			}
		}
	case 8:
		_, err = w.b.Sweep(ctx, w.rand.IntN(10))
	}
	if err != nil {
		w.Fatal(err)
	}
	time.Sleep(time.Duration(w.rand.IntN(10)) * time.Second)
}

// end lets everything expire that can.
func (w *walk) end() {
	for _, stop := range w.stops {
		stop()
	}
	time.Sleep(time.Hour)
	if _, err := w.b.Sweep(w.Context(), 1000); err != nil {
		w.Fatal(err)
	}
	w.check()
	for i := range w.b.shards {
		s := &w.b.shards[i]
		for key, r := range s.records {
			if r.expiry() != never {
				w.Errorf("%q is left, which expired at %d", key, r.expiry())
			}
		}
		if len(s.watches) > 0 {
			w.Errorf("%d watches are left", len(s.watches))
		}
	}
}

func (w *walk) check() {
	w.Helper()
	for i := range w.b.shards {
		s := &w.b.shards[i]
		w.checkQueue(s, s.pending, idem.Pending)
		w.checkQueue(s, s.complete, idem.Completed)
		completed, queued := 0, 0
		for _, r := range s.records {
			if r.state == idem.Completed {
				completed++
			}
			if r.keepEnd != never || r.state == idem.Completed && s.capacity > 0 {
				queued++
			} else if r.place != 0 {
				w.Fatalf("%q is in a queue, and never expires", r.key)
			}
		}
		if n := len(s.pending) + len(s.complete); n != queued {
			w.Fatalf("%d records are in queues, want %d", n, queued)
		}
		if s.capacity > 0 && completed > s.capacity {
			w.Fatalf("%d records are completed, above the capacity of %d", completed, s.capacity)
		}
		for key, watch := range s.watches {
			if watch.users < 1 {
				w.Fatalf("%q is watched by %d", key, watch.users)
			}
		}
	}
}

func (w *walk) checkQueue(s *shard, q queue, state idem.State) {
	w.Helper()
	for i, e := range q {
		r := e.record
		switch {
		case s.records[r.key] != r:
			w.Fatalf("%q is in a queue, and not the record of its key", r.key)
		case r.state != state:
			w.Fatalf("%q is %v, and in the queue of what is %v", r.key, r.state, state)
		case int(r.place) != i+1:
			w.Fatalf("%q is at place %d, and believes it is at %d", r.key, i+1, r.place)
		case state == idem.Completed && e.due != r.keepEnd:
			w.Fatalf("%q is due at %d, and expires at %d", r.key, e.due, r.keepEnd)
		case e.due < q[max(i-1, 0)/2].due:
			w.Fatalf("%q is due before what is above it", r.key)
		}
	}
	for _, e := range q[len(q):cap(q)] {
		if e.record != nil {
			w.Fatalf("%q is kept from the garbage collector", e.record.key)
		}
	}
}
