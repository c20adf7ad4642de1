package idem_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

func TestCloseLetsRunningCallsSettleAndRefusesNewOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := memory.New()
		store := idem.New(backend)
		s := newService(store, idem.MethodOptions[receipt]{Optional: true})
		s.charge = func(_ context.Context, id string, _ int64) (receipt, error) {
			time.Sleep(time.Minute)
			return receipt{ID: id}, nil
		}
		running := make(chan error, 1)
		go func() {
			_, err := s.Charge(context.Background(), "r-1", "10")
			running <- err
		}()
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- store.Close(context.Background()) }()
		synctest.Wait()
		for _, id := range []string{"r-2", ""} {
			if _, err := s.Charge(t.Context(), id, "10"); !errors.Is(err, idem.ErrClosed) {
				t.Errorf("a new call of key %q: %v, want ErrClosed", id, err)
			}
		}
		if err := <-running; err != nil {
			t.Errorf("the running call: %v", err)
		}
		if err := <-closed; err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := store.Close(t.Context()); err != nil {
			t.Errorf("second Close: %v", err)
		}
		if r, found, _ := backend.Lookup(t.Context(), "charge/r-1"); !found || r.State != idem.Completed {
			t.Errorf("record %+v, %v", r, found)
		}
	})
}

func TestCloseThatRunsOutOfTimeCancelsWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := memory.New()
		store := idem.New(backend)
		die(t, backend, "charge/held", time.Hour)
		s := newService(store, idem.MethodOptions[receipt]{})
		s.charge = func(ctx context.Context, _ string, _ int64) (receipt, error) {
			<-ctx.Done()
			return receipt{}, context.Cause(ctx)
		}
		errs := make(chan error, 3)
		for _, id := range []string{"r-1", "r-1", "held"} {
			go func() {
				_, err := s.Charge(context.Background(), id, "10")
				errs <- err
			}()
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := store.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v, want its deadline", err)
		}
		for range 3 {
			if err := <-errs; !errors.Is(err, idem.ErrClosed) {
				t.Errorf("a call that was still running: %v, want ErrClosed", err)
			}
		}
	})
}

func TestExpiredRecordsAreSweptAtIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend, log := newHooked(), &events{}
		expired := 25
		backend.sweep = func(_ context.Context, limit int) (int, error) {
			n := min(limit, expired)
			expired -= n
			return n, nil
		}
		store := idem.New(backend, idem.WithSweep(time.Minute, 10), idem.WithObserver(log))
		s := newService(store, idem.MethodOptions[receipt]{})
		if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if e, _ := log.find(idem.Swept); e.Count != 25 {
			t.Errorf("swept %d in the first minute, want all 25 in batches", e.Count)
		}
		backend.set(func(h *hooked) {
			h.sweep = func(context.Context, int) (int, error) { return 0, errDown }
		})
		time.Sleep(time.Minute)
		synctest.Wait()
		if e, _ := log.find(idem.Faulted); !errors.Is(e.Err, errDown) {
			t.Errorf("a sweep that failed was not told of: %v", log.kinds())
		}
		closeStore(t, store)
		n := backend.count("sweep")
		time.Sleep(time.Hour)
		if backend.count("sweep") != n {
			t.Error("swept after Close")
		}
	})
}

func TestSweepByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := idem.New(memory.New(), idem.WithSweep(0, 0))
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{TTL: time.Second})
		for _, id := range []string{"a", "b"} {
			if _, err := s.Charge(t.Context(), id, "10"); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		if n, err := store.Sweep(t.Context()); n != 2 || err != nil {
			t.Errorf("swept %d, %v; want 2", n, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := store.Sweep(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled sweep: %v", err)
		}
	})
}

func TestOptionsThatMakeNoSensePanic(t *testing.T) {
	for name, f := range map[string]func(){
		"backend":  func() { idem.New(nil) },
		"ttl":      func() { idem.New(memory.New(), idem.WithTTL(0)) },
		"lease":    func() { idem.New(memory.New(), idem.WithLease(time.Microsecond)) },
		"timeout":  func() { idem.New(memory.New(), idem.WithBackendTimeout(0)) },
		"limit":    func() { idem.New(memory.New(), idem.WithResultLimit(0)) },
		"cache":    func() { idem.New(memory.New(), idem.WithCache(1, 0)) },
		"sweep":    func() { idem.New(memory.New(), idem.WithSweep(time.Second, 0)) },
		"no store": func() { idem.NewMethod(nil, idem.MethodOptions[int]{Operation: "op"}) },
		"no name":  func() { idem.NewMethod(idem.New(memory.New()), idem.MethodOptions[int]{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
