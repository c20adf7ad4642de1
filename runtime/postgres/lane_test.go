package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A server is what a lane sends to in these tests. It answers each request
// with its double, after a second, and refuses whatever holds a zero.
type server struct {
	mu    sync.Mutex
	trips [][]int
}

// refusal is an error as the server answers it.
type refusal string

func (r refusal) Error() string    { return string(r) }
func (r refusal) SQLState() string { return string(r) }

// errInvalidValue is the code of an argument that the server does not take.
const errInvalidValue refusal = "22023"

func (s *server) send(ctx context.Context, requests []int) ([]int, error) {
	s.mu.Lock()
	s.trips = append(s.trips, slices.Clone(requests))
	s.mu.Unlock()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	answers := make([]int, len(requests))
	for i, r := range requests {
		if r == 0 {
			return nil, errInvalidValue
		}
		answers[i] = 2 * r
	}
	return answers, nil
}

// ask sends requests at the same time, and returns a function that waits for
// the answers.
func ask(ctx context.Context, t *testing.T, l *lane[int, int], requests ...int) func() []error {
	errs := make([]error, len(requests))
	var callers sync.WaitGroup
	for i, r := range requests {
		callers.Go(func() {
			var answer int
			if answer, errs[i] = l.do(ctx, r); errs[i] == nil && answer != 2*r {
				t.Errorf("the answer to %d is %d", r, answer)
			}
		})
	}
	synctest.Wait()
	return func() []error {
		callers.Wait()
		return errs
	}
}

func TestALoneRequestLeavesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(server)
		l := newLane(2, time.Minute, s.send)
		start := time.Now()
		ask(t.Context(), t, &l, 1)()
		if took := time.Since(start); took != time.Second {
			t.Errorf("it took %v, want the one second of the trip", took)
		}
	})
}

// A caller that nothing can cancel makes its trip itself. Whoever has queued
// meanwhile is not left behind.
func TestACallerThatStaysTravelsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(server)
		l := newLane(1, time.Minute, s.send)
		first := ask(context.Background(), t, &l, 1)
		rest := ask(context.Background(), t, &l, 2, 3)
		start := time.Now()
		for _, err := range append(first(), rest()...) {
			if err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(start); took != 2*time.Second || len(s.trips) != 2 {
			t.Errorf("trips %v, in %v", s.trips, took)
		}
	})
}

func TestACrowdTravelsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(server)
		l := newLane(1, time.Minute, s.send)
		first := ask(t.Context(), t, &l, 1)
		rest := ask(t.Context(), t, &l, 2, 3, 4, 5)
		for _, err := range append(first(), rest()...) {
			if err != nil {
				t.Error(err)
			}
		}
		if len(s.trips) != 2 || len(s.trips[1]) != 4 {
			t.Errorf("trips: %v, want one with the first and one with the others", s.trips)
		}
	})
}

// Few requests get trips of their own; many share the two that a crowd has.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(server)
		l := newLane(manyTrips, time.Minute, s.send)
		var few []func() []error
		for i := range manyTrips {
			few = append(few, ask(t.Context(), t, &l, i+1))
		}
		if len(s.trips) != manyTrips {
			t.Errorf("%d trips for %d requests", len(s.trips), manyTrips)
		}
		many := make([]int, 100)
		for i := range many {
			many[i] = i + 1
		}
		crowd := ask(t.Context(), t, &l, many...)
		for _, wait := range few {
			wait()
		}
		crowd()
		if n := len(s.trips) - manyTrips; n > fewTrips {
			t.Errorf("%d trips for a crowd of 100", n)
		}
	})
}

func TestAFailingMemberFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(server)
		l := newLane(1, time.Minute, s.send)
		first := ask(t.Context(), t, &l, 1)
		rest := ask(t.Context(), t, &l, 2, 0, 3, 4, 5)
		first()
		errs := rest()
		for i, err := range errs {
			if failed := err != nil; failed != (i == 1) {
				t.Errorf("request %d: %v", i, err)
			}
		}
		if !errors.Is(errs[1], errInvalidValue) {
			t.Errorf("the failing request: %v", errs[1])
		}
	})
}

// A caller who leaves before its request does takes it along: nobody would
// hold what it claims.
func TestACancelledCallerAffectsOnlyItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(server)
		l := newLane(1, time.Minute, s.send)
		ctx, cancel := context.WithCancel(t.Context())
		riding := ask(ctx, t, &l, 1)
		waiting := ask(ctx, t, &l, 2)
		staying := ask(t.Context(), t, &l, 3)
		start := time.Now()
		cancel()
		for _, err := range append(riding(), waiting()...) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled caller got %v", err)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("the cancelled callers left after %v", took)
		}
		if err := staying()[0]; err != nil {
			t.Error(err)
		}
		if _, err := l.do(ctx, 4); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that came cancelled got %v", err)
		}
		if want := [][]int{{1}, {3}}; !slices.EqualFunc(s.trips, want, slices.Equal) {
			t.Errorf("trips: %v, want %v", s.trips, want)
		}
	})
}

func TestATripIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(1, time.Minute, func(ctx context.Context, _ []int) ([]int, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		start := time.Now()
		if err := ask(t.Context(), t, &l, 1)()[0]; err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("err = %v, want one that is not the end of a context of the caller", err)
		}
		if took := time.Since(start); took != time.Minute {
			t.Errorf("it took %v", took)
		}
	})
}

func TestABatchIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(server)
		l := newLane(1, time.Minute, s.send)
		first := ask(t.Context(), t, &l, 1)
		many := make([]int, maxBatch+1)
		for i := range many {
			many[i] = i + 1
		}
		rest := ask(t.Context(), t, &l, many...)
		first()
		rest()
		if len(s.trips) != 3 || len(s.trips[1]) != maxBatch {
			t.Errorf("%d trips", len(s.trips))
		}
	})
}

// Heavy requests travel in small parties, and one at least.
func TestAHeavyRequestTravelsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(server)
		l := newLane(1, time.Minute, s.send)
		l.weight = func(r int) int { return r }
		first := ask(t.Context(), t, &l, 1)
		var rest []func() []error
		for _, r := range []int{2 * maxWeight, maxWeight / 2, maxWeight / 2, 1} {
			rest = append(rest, ask(t.Context(), t, &l, r))
		}
		first()
		for _, wait := range rest {
			if err := wait()[0]; err != nil {
				t.Error(err)
			}
		}
		var sizes []int
		for _, trip := range s.trips {
			sizes = append(sizes, len(trip))
		}
		if want := []int{1, 1, 2, 1}; !slices.Equal(sizes, want) {
			t.Errorf("sizes of trips: %v, want %v", sizes, want)
		}
	})
}
