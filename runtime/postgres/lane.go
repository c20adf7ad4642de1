package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// maxBatch bounds how many requests travel together, and maxWeight how many
	// bytes, beyond those of one request.
	maxBatch  = 256
	maxWeight = 1 << 20
	// A lane has room for many trips with few requests each, so that a few
	// callers do not wait for each other, or for few with many, which is how a
	// crowd costs the server least.
	manyTrips, fewTrips = 8, 2
	fewRequests         = 8
)

// A lane carries requests of one kind. A request that finds a free trip leaves
// at once, alone; those that come while all trips are under way leave together
// in the next one. So a single caller waits for nobody, and a crowd shares
// round trips and commits.
//
// A request that leaves is answered, or fails, by itself: see deliver. It does
// not end with its caller's context, because a connection that is interrupted
// in the middle of a statement is lost.
type lane[Q, A any] struct {
	send    func(ctx context.Context, requests []Q) ([]A, error)
	weight  func(Q) int // nil: nothing
	timeout time.Duration

	mu        sync.Mutex
	most      int // trips at a time
	trips     int // under way
	travelers int // requests that are under way
	queue     []*seat[Q, A]
}

// A seat is one caller's request.
type seat[Q, A any] struct {
	request Q
	answer  A
	err     error
	done    chan struct{} // closed when answer and err are set
}

func newLane[Q, A any](most int, timeout time.Duration, send func(context.Context, []Q) ([]A, error)) lane[Q, A] {
	return lane[Q, A]{send: send, timeout: timeout, most: most}
}

// do sends a request and waits for its answer. If ctx ends first, do returns
// its error; a request that has not left by then never does.
func (l *lane[Q, A]) do(ctx context.Context, request Q) (A, error) {
	s := &seat[Q, A]{request: request, done: make(chan struct{})}
	if err := ctx.Err(); err != nil {
		return s.answer, err
	}
	l.mu.Lock()
	l.queue = append(l.queue, s)
	room := l.room()
	if room {
		l.trips++
	}
	l.mu.Unlock()
	switch {
	case !room:
	case ctx.Done() == nil:
		l.travelOnce() // nothing could make the caller leave
	default:
		go l.travel()
	}
	select {
	case <-s.done:
		return s.answer, s.err
	case <-ctx.Done():
		l.leave(s)
		var none A
		return none, ctx.Err()
	}
}

// room reports whether one more trip may begin. It must be called with l.mu
// held.
func (l *lane[Q, A]) room() bool {
	return l.trips < min(l.most, fewTrips) || l.trips < l.most && l.travelers < fewRequests
}

// leave takes s out of the queue, if it is still there.
func (l *lane[Q, A]) leave(s *seat[Q, A]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.queue, s); i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
	}
}

// travel makes trips until nobody is left in the queue.
func (l *lane[Q, A]) travel() {
	for seats := l.fill(0); len(seats) > 0; seats = l.fill(len(seats)) {
		l.deliver(seats)
	}
}

// travelOnce makes one trip, and leaves further ones to a goroutine: the
// caller has its answer.
func (l *lane[Q, A]) travelOnce() {
	seats := l.fill(0)
	if len(seats) == 0 {
		return
	}
	l.deliver(seats)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.travelers -= len(seats)
	if len(l.queue) == 0 {
		l.trips--
		return
	}
	go l.travel()
}

// fill ends a trip with so many requests, and begins the next one with those
// in the queue. It returns none if there is no next one.
func (l *lane[Q, A]) fill(arrived int) []*seat[Q, A] {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.travelers -= arrived
	l.trips--
	if len(l.queue) == 0 || !l.room() {
		return nil
	}
	n := l.batch()
	seats := l.queue[:n:n]
	if l.queue = l.queue[n:]; len(l.queue) == 0 {
		l.queue = nil
	}
	l.travelers += n
	l.trips++
	return seats
}

// batch returns how many of those in the queue can travel together.
func (l *lane[Q, A]) batch() int {
	most := min(len(l.queue), maxBatch)
	if l.weight == nil {
		return most
	}
	weight := 0
	for i, s := range l.queue[:most] {
		if weight += l.weight(s.request); weight > maxWeight && i > 0 {
			return i
		}
	}
	return most
}

// deliver sends the requests of seats together. If they are refused, one of them
// is to blame, so each goes again alone.
func (l *lane[Q, A]) deliver(seats []*seat[Q, A]) {
	requests := make([]Q, len(seats))
	for i, s := range seats {
		requests[i] = s.request
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.timeout)
	answers, err := l.send(ctx, requests)
	if err != nil && ctx.Err() != nil {
		// Not to be taken for the end of the caller's context.
		err = fmt.Errorf("postgres: no answer within %v: %s", l.timeout, err.Error())
	}
	cancel()
	if len(seats) > 1 && refused(err) {
		l.deliverEach(seats)
		return
	}
	for i, s := range seats {
		if s.err = err; err == nil {
			s.answer = answers[i]
		}
		close(s.done)
	}
}

// alone is how many requests that had to be separated travel at a time.
const alone = 4

func (l *lane[Q, A]) deliverEach(seats []*seat[Q, A]) {
	var trips sync.WaitGroup
	for part := range slices.Chunk(seats, (len(seats)+alone-1)/alone) {
		trips.Go(func() {
			for i := range part {
				l.deliver(part[i : i+1])
			}
		})
	}
	trips.Wait()
}
