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

func TestHeartbeatOutlivesTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newHooked()
		holder, other := idem.New(backend), idem.New(backend)
		defer closeStore(t, holder)
		defer closeStore(t, other)
		a := newService(holder, idem.MethodOptions[receipt]{Lease: 3 * time.Second})
		a.charge = func(ctx context.Context, id string, _ int64) (receipt, error) {
			time.Sleep(30 * time.Second) // ten leases
			return receipt{ID: id}, ctx.Err()
		}
		b := newService(other, idem.MethodOptions[receipt]{Lease: 3 * time.Second})
		done := make(chan error, 1)
		go func() {
			_, err := a.Charge(context.Background(), "r-1", "10")
			done <- err
		}()
		synctest.Wait()
		r, err := b.Charge(t.Context(), "r-1", "10")
		if err != nil || r.ID != "r-1" {
			t.Errorf("waiter got %+v, %v", r, err)
		}
		if err := <-done; err != nil {
			t.Errorf("holder: %v", err)
		}
		if a.runs.Load() != 1 || b.runs.Load() != 0 {
			t.Errorf("%d and %d executions, want 1 and 0", a.runs.Load(), b.runs.Load())
		}
		// Thirty seconds at a renewal a second.
		if n := backend.count("extend"); n < 25 || n > 35 {
			t.Errorf("%d renewals, want about 30", n)
		}
	})
}

func TestHeartbeatsShareACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newHooked()
		var largest int
		backend.extend = func(ctx context.Context, x []idem.Extension) ([]bool, error) {
			largest = max(largest, len(x))
			return backend.backend.Extend(ctx, x)
		}
		store := idem.New(backend)
		s := newService(store, idem.MethodOptions[receipt]{Lease: 12 * time.Second})
		s.charge = func(context.Context, string, int64) (receipt, error) {
			time.Sleep(9 * time.Second)
			return receipt{}, nil
		}
		for _, id := range []string{"a", "b", "c", "d", "e"} {
			go s.Charge(context.Background(), id, "10")
			time.Sleep(100 * time.Millisecond)
		}
		closeStore(t, store)
		if largest != 5 {
			t.Errorf("at most %d claims in one renewal, want all 5", largest)
		}
		if n := backend.count("extend"); n != 2 {
			t.Errorf("%d renewals, want one at a third and one at two thirds of the lease", n)
		}
	})
}

func TestCrashedHolderIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend, log := memory.New(), &events{}
		store := idem.New(backend, idem.WithObserver(log))
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{})
		dead := die(t, backend, "charge/r-1", 10*time.Second)
		var x idem.Execution
		s.charge = func(ctx context.Context, id string, _ int64) (receipt, error) {
			x, _ = idem.ExecutionFrom(ctx)
			return receipt{ID: id}, nil
		}
		start := time.Now()
		if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); waited < 10*time.Second || waited > 11*time.Second {
			t.Errorf("ran after %v, want just after the lease of 10s", waited)
		}
		if x.Attempt != 2 || x.Fence <= dead {
			t.Errorf("execution %+v, want attempt 2 and a fence above %d", x, dead)
		}
		log.want(t, idem.Waited, idem.TakenOver, idem.Executed)
	})
}

func TestRefuseAnswersInterruptedUntilResolved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := memory.New()
		store := idem.New(backend)
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{Refuse: true})
		die(t, backend, "charge/r-1", time.Second)
		for range 2 {
			_, err := s.Charge(t.Context(), "r-1", "10")
			if !errors.Is(err, idem.ErrInterrupted) || idem.Advise(err) != idem.DoNotRetry {
				t.Fatalf("%v, want ErrInterrupted", err)
			}
			time.Sleep(100 * 24 * time.Hour) // no retention ends the refusal
		}
		if err := store.Resolve(t.Context(), "charge/r-1", idem.Resolution{Result: receipt{ID: "resolved"}}); err != nil {
			t.Fatal(err)
		}
		r, err := s.Charge(t.Context(), "r-1", "10")
		if err != nil || r.ID != "resolved" || s.runs.Load() != 0 {
			t.Errorf("after Resolve: %+v, %v, %d executions", r, err, s.runs.Load())
		}
	})
}

// A zombie is a holder that stalls past its lease.
func TestZombieChangesNothing(t *testing.T) {
	for name, outcome := range map[string]error{"completing": nil, "releasing": errors.New("declined")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				backend, log := newHooked(), &events{}
				stalled := idem.New(backend, idem.WithObserver(log))
				healthy := idem.New(backend.backend)
				defer closeStore(t, stalled)
				defer closeStore(t, healthy)
				backend.extend = func(context.Context, []idem.Extension) ([]bool, error) { return nil, errDown }

				var cause error
				zombie := newService(stalled, idem.MethodOptions[receipt]{Lease: 3 * time.Second})
				zombie.charge = func(ctx context.Context, _ string, _ int64) (receipt, error) {
					<-ctx.Done()
					cause = context.Cause(ctx)
					time.Sleep(5 * time.Second)
					return receipt{ID: "zombie"}, outcome
				}
				next := newService(healthy, idem.MethodOptions[receipt]{Lease: 3 * time.Second})
				next.charge = func(context.Context, string, int64) (receipt, error) {
					time.Sleep(20 * time.Second)
					return receipt{ID: "next"}, nil
				}
				results := make(chan receipt, 2)
				for _, s := range []*service{zombie, next} {
					go func() {
						r, err := s.Charge(context.Background(), "r-1", "10")
						if err != nil {
							t.Error(err)
						}
						results <- r
					}()
					synctest.Wait()
				}
				if a, b := <-results, <-results; a.ID != "next" || b.ID != "next" {
					t.Errorf("callers saw %q and %q, want the one recorded result", a.ID, b.ID)
				}
				if !errors.Is(cause, idem.ErrClaimLost) {
					t.Errorf("the zombie's context ended with %v, want ErrClaimLost", cause)
				}
				if _, ok := log.find(idem.Lost); !ok {
					t.Errorf("events %v do not tell of the loss", log.kinds())
				}
			})
		})
	}
}

func TestLapsedHolderThatNobodyReplacedCompletes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newHooked()
		backend.extend = func(context.Context, []idem.Extension) ([]bool, error) { return nil, errDown }
		store := idem.New(backend)
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{Lease: time.Second})
		s.charge = func(ctx context.Context, id string, _ int64) (receipt, error) {
			<-ctx.Done()
			return receipt{ID: id}, nil
		}
		if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
			t.Fatal(err)
		}
		r, found, err := store.Lookup(t.Context(), "charge/r-1")
		if err != nil || !found || r.State != idem.Completed || r.Attempt != 1 {
			t.Errorf("record %+v, %v, %v", r, found, err)
		}
	})
}

func TestRenewalThatHangsDoesNotHideALostLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newHooked()
		backend.extend = func(ctx context.Context, _ []idem.Extension) ([]bool, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		store := idem.New(backend, idem.WithBackendTimeout(time.Hour))
		s := newService(store, idem.MethodOptions[receipt]{Lease: 3 * time.Second})
		start := time.Now()
		s.charge = func(ctx context.Context, id string, _ int64) (receipt, error) {
			<-ctx.Done()
			return receipt{ID: id}, nil
		}
		if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("the context ended after %v, want the lease of 3s", d)
		}
		closeStore(t, store)
	})
}

func TestOneFailedRenewalIsMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend, log := newHooked(), &events{}
		fail := true
		backend.extend = func(ctx context.Context, x []idem.Extension) ([]bool, error) {
			if fail {
				fail = false
				return nil, errDown
			}
			return backend.backend.Extend(ctx, x)
		}
		store := idem.New(backend, idem.WithObserver(log))
		s := newService(store, idem.MethodOptions[receipt]{Lease: 3 * time.Second})
		s.charge = func(ctx context.Context, id string, _ int64) (receipt, error) {
			time.Sleep(10 * time.Second)
			return receipt{ID: id}, context.Cause(ctx)
		}
		if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
			t.Error(err)
		}
		closeStore(t, store)
		log.want(t, idem.Faulted, idem.Executed)
	})
}
