package idem_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

func TestBackendThatFailsAtClaimStopsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newHooked()
		backend.claim = func(context.Context, idem.ClaimRequest) (idem.ClaimResult, error) { return idem.ClaimResult{}, errDown }
		store := idem.New(backend)
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{})
		_, err := s.Charge(t.Context(), "r-1", "10")
		var failure *idem.BackendError
		if !errors.As(err, &failure) || failure.Action != "claim" || !errors.Is(err, errDown) || idem.Advise(err) != idem.RetrySameKey {
			t.Errorf("%v, want a *BackendError", err)
		}
		if s.runs.Load() != 0 {
			t.Error("the method ran")
		}
	})
}

func TestFailOpenRunsUnprotected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend, log := newHooked(), &events{}
		backend.claim = func(context.Context, idem.ClaimRequest) (idem.ClaimResult, error) { return idem.ClaimResult{}, errDown }
		store := idem.New(backend, idem.WithFailOpen(), idem.WithObserver(log))
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{})
		if r, err := s.Charge(t.Context(), "r-1", "10"); err != nil || r.ID != "r-1" {
			t.Errorf("%+v, %v", r, err)
		}
		s.charge = func(context.Context, string, int64) (receipt, error) { return receipt{}, errors.New("declined") }
		if _, err := s.Charge(t.Context(), "r-1", "10"); err == nil || err.Error() != "declined" {
			t.Errorf("%v, want the method's own error", err)
		}
		log.want(t, idem.Unprotected, idem.Unprotected)
	})
}

// What cannot be encoded can be circular, so that a copy would have no end.
func TestFailOpenCopiesNothingThatCannotBeEncoded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newHooked()
		backend.claim = func(context.Context, idem.ClaimRequest) (idem.ClaimResult, error) { return idem.ClaimResult{}, errDown }
		store := idem.New(backend, idem.WithFailOpen())
		defer closeStore(t, store)
		method := idem.NewMethod(store, idem.MethodOptions[func()]{Operation: "op", Copy: func(f func()) func() {
			t.Error("the result was copied")
			return f
		}})
		joined := make(chan struct{})
		call := func() error {
			var key idem.KeyBuilder
			key.String("k")
			_, err := method.Run(t.Context(), &key, nil, func(context.Context) (func(), error) {
				<-joined
				return func() {}, nil
			})
			return err
		}
		go func() {
			if err := call(); err != nil {
				t.Errorf("the leader got %v", err)
			}
		}()
		synctest.Wait()
		go func() {
			if err := call(); !errors.Is(err, idem.ErrResultUnavailable) {
				t.Errorf("the follower got %v, want ErrResultUnavailable", err)
			}
		}()
		synctest.Wait()
		close(joined)
		synctest.Wait()
	})
}

func TestClaimWhoseAnswerWasLostIsRecognised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newHooked()
		backend.claim = func(ctx context.Context, r idem.ClaimRequest) (idem.ClaimResult, error) {
			result, err := backend.backend.Claim(ctx, r)
			if backend.count("claim") == 1 {
				return idem.ClaimResult{}, errDown // it was won, but nobody heard
			}
			return result, err
		}
		store := idem.New(backend)
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{Reject: true})
		if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
			t.Error(err)
		}
	})
}

func TestClaimWonUnknownToAnybodyIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newHooked()
		backend.claim = func(ctx context.Context, r idem.ClaimRequest) (idem.ClaimResult, error) {
			result, err := backend.backend.Claim(ctx, r)
			if backend.count("claim") <= 2 {
				return idem.ClaimResult{}, errDown
			}
			return result, err
		}
		store := idem.New(backend)
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{Refuse: true})
		if _, err := s.Charge(t.Context(), "r-1", "10"); !errors.Is(err, errDown) {
			t.Fatalf("%v, want the backend's failure", err)
		}
		time.Sleep(time.Second)
		if _, found, _ := store.Lookup(t.Context(), "charge/r-1"); found {
			t.Error("the claim of a call that never ran is still there")
		}
	})
}

func TestCancelledCallerLeavesAHangingClaimAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newHooked()
		backend.claim = func(ctx context.Context, r idem.ClaimRequest) (idem.ClaimResult, error) {
			time.Sleep(2 * time.Second)
			return backend.backend.Claim(ctx, r)
		}
		store := idem.New(backend)
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := s.Charge(ctx, "r-1", "10"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the deadline", err)
		}
		if d := time.Since(start); d != time.Second {
			t.Errorf("left after %v, want 1s", d)
		}
		time.Sleep(2 * time.Second)
		if _, found, _ := store.Lookup(t.Context(), "charge/r-1"); found {
			t.Error("the claim that came too late was not given back")
		}
		if s.runs.Load() != 0 {
			t.Error("the method ran")
		}
	})
}

func TestCancelledCallerRunsNothing(t *testing.T) {
	store := idem.New(memory.New())
	defer closeStore(t, store)
	s := newService(store, idem.MethodOptions[receipt]{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Charge(ctx, "r-1", "10"); !errors.Is(err, context.Canceled) || s.runs.Load() != 0 {
		t.Errorf("%v after %d executions", err, s.runs.Load())
	}
}

func TestPendingPolicies(t *testing.T) {
	for name, c := range map[string]struct {
		options idem.MethodOptions[receipt]
		after   time.Duration
		err     error
	}{
		"wait":    {idem.MethodOptions[receipt]{}, 10 * time.Second, nil},
		"wait=3s": {idem.MethodOptions[receipt]{MaxWait: 3 * time.Second}, 3 * time.Second, idem.ErrInProgress},
		"wait=1m": {idem.MethodOptions[receipt]{MaxWait: time.Minute}, 10 * time.Second, nil},
		"reject":  {idem.MethodOptions[receipt]{Reject: true}, 0, idem.ErrInProgress},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				backend := newHooked()
				holder, other := idem.New(backend), idem.New(backend)
				defer closeStore(t, holder)
				defer closeStore(t, other)
				a, b := newService(holder, c.options), newService(other, c.options)
				a.charge = func(_ context.Context, id string, _ int64) (receipt, error) {
					time.Sleep(10 * time.Second)
					return receipt{ID: id}, nil
				}
				go a.Charge(context.Background(), "r-1", "10")
				synctest.Wait()
				var wg sync.WaitGroup
				for range 2 { // a leader and a follower of the other process
					wg.Go(func() {
						start := time.Now()
						r, err := b.Charge(t.Context(), "r-1", "10")
						if d := time.Since(start); d < c.after || d > c.after+time.Second {
							t.Errorf("answered after %v, want %v", d, c.after)
						}
						if !errors.Is(err, c.err) || err == nil && r.ID != "r-1" {
							t.Errorf("%+v, %v, want %v", r, err, c.err)
						}
					})
				}
				wg.Wait()
				if b.runs.Load() != 0 {
					t.Error("the waiter ran")
				}
			})
		})
	}
}

func TestInProgressTellsWhatToDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := memory.New()
		store := idem.New(backend)
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{Reject: true})
		die(t, backend, "charge/r-1", 10*time.Second)
		time.Sleep(4 * time.Second)
		_, err := s.Charge(t.Context(), "r-1", "10")
		var call *idem.CallError
		if !errors.As(err, &call) {
			t.Fatalf("%v, want a *CallError", err)
		}
		want := idem.CallError{
			Operation: "charge", Key: "charge/r-1", Attempt: 1, Age: 4 * time.Second,
			LeaseLeft: 6 * time.Second, RetryAfter: 4 * time.Second, Err: idem.ErrInProgress,
		}
		if *call != want {
			t.Errorf("%+v, want %+v", *call, want)
		}
	})
}

func TestWaiterSeesTheFailureOfTheHolderAndRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newHooked()
		holder, other := idem.New(backend), idem.New(backend)
		defer closeStore(t, holder)
		defer closeStore(t, other)
		a, b := newService(holder, idem.MethodOptions[receipt]{}), newService(other, idem.MethodOptions[receipt]{})
		a.charge = func(context.Context, string, int64) (receipt, error) {
			time.Sleep(2 * time.Second)
			return receipt{}, errors.New("declined")
		}
		go a.Charge(context.Background(), "r-1", "10")
		synctest.Wait()
		if r, err := b.Charge(t.Context(), "r-1", "10"); err != nil || r.ID != "r-1" || b.runs.Load() != 1 {
			t.Errorf("%+v, %v after %d executions", r, err, b.runs.Load())
		}
	})
}

func TestBackendThatNotifiesIsNotPolled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := memory.New()
		holder, other := idem.New(backend), idem.New(backend)
		defer closeStore(t, holder)
		defer closeStore(t, other)
		a, b := newService(holder, idem.MethodOptions[receipt]{}), newService(other, idem.MethodOptions[receipt]{})
		a.charge = func(_ context.Context, id string, _ int64) (receipt, error) {
			time.Sleep(2 * time.Second)
			return receipt{ID: id}, nil
		}
		go a.Charge(context.Background(), "r-1", "10")
		synctest.Wait()
		start := time.Now()
		if _, err := b.Charge(t.Context(), "r-1", "10"); err != nil {
			t.Error(err)
		}
		if d := time.Since(start); d != 2*time.Second {
			t.Errorf("woken after %v, want 2s", d)
		}
	})
}

// A waiter may see a claim vanish at any moment, and must come back through a
// claim of its own.
func TestWaitersAndHoldersRace(t *testing.T) {
	backend := memory.New()
	stores := []*idem.Store{idem.New(backend, idem.WithCache(0, 0)), idem.New(backend, idem.WithCache(0, 0))}
	var services []*service
	var running, fail atomic.Int64
	for _, store := range stores {
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{Copy: copyReceipt})
		s.charge = func(_ context.Context, id string, _ int64) (receipt, error) {
			if running.Add(1) != 1 {
				t.Error("two executions at once")
			}
			defer running.Add(-1)
			if fail.Add(1)%3 != 0 {
				return receipt{}, errDown
			}
			return receipt{ID: id}, nil
		}
		services = append(services, s)
	}
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	for range rounds {
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				r, err := services[i%2].Charge(t.Context(), "r-1", "10")
				if err != nil && err != errDown || err == nil && r.ID != "r-1" {
					t.Errorf("%+v, %v", r, err)
				}
			})
		}
		wg.Wait()
		if err := stores[0].Forget(t.Context(), "charge/r-1"); err != nil && !errors.Is(err, idem.ErrNotFound) {
			t.Fatal(err)
		}
	}
}
