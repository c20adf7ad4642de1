package idem_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

func TestCancelledFollowerLeavesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := idem.New(memory.New())
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{})
		s.charge = func(ctx context.Context, id string, _ int64) (receipt, error) {
			time.Sleep(time.Minute)
			return receipt{ID: id}, ctx.Err()
		}
		leader := make(chan error, 1)
		go func() {
			_, err := s.Charge(context.Background(), "r-1", "10")
			leader <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := s.Charge(ctx, "r-1", "10"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("follower: %v, want its own deadline", err)
		}
		if d := time.Since(start); d != time.Second {
			t.Errorf("the follower left after %v, want 1s", d)
		}
		if err := <-leader; err != nil {
			t.Errorf("leader: %v", err)
		}
	})
}

func TestLeadersErrorIsSharedAndNotRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := idem.New(memory.New())
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{})
		declined := errors.New("declined")
		s.charge = func(_ context.Context, id string, run int64) (receipt, error) {
			time.Sleep(time.Second)
			if run == 1 {
				return receipt{}, declined
			}
			return receipt{ID: id}, nil
		}
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, err := s.Charge(t.Context(), "r-1", "10"); err != declined {
					t.Errorf("%v, want the leader's own error", err)
				}
			})
		}
		wg.Wait()
		if r, err := s.Charge(t.Context(), "r-1", "10"); err != nil || r.ID != "r-1" {
			t.Errorf("after the failure: %+v, %v", r, err)
		}
		if n := s.runs.Load(); n != 2 {
			t.Errorf("%d executions, want 2", n)
		}
	})
}

func TestFollowerTakesTheLeadFromACancelledLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := idem.New(memory.New())
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{})
		s.charge = func(ctx context.Context, id string, run int64) (receipt, error) {
			select {
			case <-ctx.Done():
				return receipt{}, ctx.Err()
			case <-time.After(time.Minute):
				return receipt{ID: id}, nil
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		leader := make(chan error, 1)
		go func() {
			_, err := s.Charge(ctx, "r-1", "10")
			leader <- err
		}()
		synctest.Wait()
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if r, err := s.Charge(t.Context(), "r-1", "10"); err != nil || r.ID != "r-1" {
					t.Errorf("follower: %+v, %v", r, err)
				}
			})
		}
		synctest.Wait()
		cancel()
		wg.Wait()
		if err := <-leader; !errors.Is(err, context.Canceled) {
			t.Errorf("leader: %v, want its cancellation", err)
		}
		if n := s.runs.Load(); n != 2 {
			t.Errorf("%d executions, want the leader's and one more", n)
		}
	})
}

func TestFollowerWithOtherArgumentsConflictsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newHooked()
		store := idem.New(backend)
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{})
		s.charge = func(_ context.Context, id string, _ int64) (receipt, error) {
			time.Sleep(time.Minute)
			return receipt{ID: id}, nil
		}
		go s.Charge(context.Background(), "r-1", "10")
		synctest.Wait()
		before := backend.count("claim")
		_, err := s.Charge(t.Context(), "r-1", "11")
		var call *idem.CallError
		if !errors.Is(err, idem.ErrKeyReused) || !errors.As(err, &call) || call.Argument != "amount" {
			t.Errorf("%v, want ErrKeyReused that names amount", err)
		}
		if idem.Advise(err) != idem.UseAnotherKey {
			t.Errorf("advice %q", idem.Advise(err))
		}
		if n := backend.count("claim"); n != before {
			t.Error("the backend was asked")
		}
	})
}

// The one whose arguments are recorded must not be told that its key is used
// up, only because a wrong caller came first in this process.
func TestRightfulCallerIsNotRefusedWhileAWrongOneClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newHooked()
		seed := idem.New(backend.backend)
		if _, err := newService(seed, idem.MethodOptions[receipt]{}).Charge(t.Context(), "r-1", "10"); err != nil {
			t.Fatal(err)
		}
		closeStore(t, seed)
		store := idem.New(backend)
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{})
		backend.claim = func(ctx context.Context, r idem.ClaimRequest) (idem.ClaimResult, error) {
			time.Sleep(time.Second)
			return backend.backend.Claim(ctx, r)
		}
		wrong := make(chan error, 1)
		go func() {
			_, err := s.Charge(context.Background(), "r-1", "11")
			wrong <- err
		}()
		synctest.Wait()
		if r, err := s.Charge(t.Context(), "r-1", "10"); err != nil || r.ID != "r-1" {
			t.Errorf("rightful caller: %+v, %v", r, err)
		}
		if err := <-wrong; !errors.Is(err, idem.ErrKeyReused) {
			t.Errorf("wrong caller: %v", err)
		}
	})
}

func TestPanicReleasesAndReachesFollowers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := idem.New(memory.New())
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{})
		broken := errors.New("broken")
		s.charge = func(_ context.Context, id string, run int64) (receipt, error) {
			time.Sleep(time.Second)
			if run == 1 {
				panic(broken)
			}
			return receipt{ID: id}, nil
		}
		leader := make(chan any, 1)
		go func() {
			defer func() { leader <- recover() }()
			s.Charge(context.Background(), "r-1", "10")
		}()
		synctest.Wait()
		_, err := s.Charge(t.Context(), "r-1", "10")
		var p *idem.PanicError
		if !errors.As(err, &p) || p.Value != any(broken) || len(p.Stack) == 0 || !errors.Is(err, broken) {
			t.Errorf("follower: %v, want a *PanicError with the value", err)
		}
		if got := <-leader; got != any(broken) {
			t.Errorf("the leader panicked with %v, want its own value", got)
		}
		if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
			t.Errorf("after the panic: %v", err)
		}
	})
}

func TestGoexitReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := idem.New(memory.New())
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{})
		s.charge = func(_ context.Context, id string, run int64) (receipt, error) {
			time.Sleep(time.Second)
			if run == 1 {
				runtime.Goexit()
			}
			return receipt{ID: id}, nil
		}
		go s.Charge(context.Background(), "r-1", "10")
		synctest.Wait()
		_, err := s.Charge(t.Context(), "r-1", "10")
		var p *idem.PanicError
		if !errors.As(err, &p) || p.Value != nil {
			t.Errorf("follower: %v, want a *PanicError without a value", err)
		}
		if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
			t.Errorf("after Goexit: %v", err)
		}
	})
}

// However an execution and a Forget interleave, no two run at once.
func TestForgettingLetsNoSecondExecutionBesideTheFirst(t *testing.T) {
	store := idem.New(memory.New())
	defer closeStore(t, store)
	s := newService(store, idem.MethodOptions[receipt]{})
	var running sync.Mutex
	s.charge = func(_ context.Context, id string, _ int64) (receipt, error) {
		if !running.TryLock() {
			t.Error("two executions at once")
			return receipt{}, nil
		}
		defer running.Unlock()
		runtime.Gosched()
		return receipt{ID: id}, nil
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
					t.Error(err)
				}
				if err := store.Forget(t.Context(), "charge/r-1"); err != nil &&
					!errors.Is(err, idem.ErrNotFound) && !errors.Is(err, idem.ErrChanged) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestObserverThatPanicsDoesNotWedgeTheKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		armed := true
		store := idem.New(memory.New(), idem.WithObserver(idem.ObserverFunc(func(_ context.Context, e idem.Event) {
			if armed && e.Kind == idem.Executed {
				armed = false
				panic("observer")
			}
		})))
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{})
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the observer's panic was swallowed")
				}
			}()
			s.Charge(t.Context(), "r-1", "10")
		}()
		if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
			t.Error(err)
		}
		if n := s.runs.Load(); n != 1 {
			t.Errorf("%d executions, want 1", n)
		}
	})
}
