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

func TestForgetLetsTheNextCallRun(t *testing.T) {
	store := idem.New(memory.New())
	defer closeStore(t, store)
	s := newService(store, idem.MethodOptions[receipt]{})
	for want := range int64(3) {
		if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
			t.Fatal(err)
		}
		if n := s.runs.Load(); n != want+1 {
			t.Errorf("%d executions, want %d", n, want+1)
		}
		if err := store.Forget(t.Context(), "charge/r-1"); err != nil {
			t.Error(err)
		}
	}
	if err := store.Forget(t.Context(), "charge/r-1"); !errors.Is(err, idem.ErrNotFound) {
		t.Errorf("forgetting nothing: %v, want ErrNotFound", err)
	}
}

func TestForgottenHolderRecordsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := memory.New()
		store, operator := idem.New(backend), idem.New(backend)
		defer closeStore(t, store)
		defer closeStore(t, operator)
		s := newService(store, idem.MethodOptions[receipt]{})
		s.charge = func(_ context.Context, id string, _ int64) (receipt, error) {
			time.Sleep(time.Second)
			return receipt{ID: id}, nil
		}
		done := make(chan error, 1)
		go func() {
			_, err := s.Charge(context.Background(), "r-1", "10")
			done <- err
		}()
		synctest.Wait()
		if err := operator.Forget(t.Context(), "charge/r-1"); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if _, found, _ := operator.Lookup(t.Context(), "charge/r-1"); found {
			t.Error("the holder recorded a result after its claim was forgotten")
		}
	})
}

func TestResolveFindsWhatItMaySettle(t *testing.T) {
	store := idem.New(memory.New())
	defer closeStore(t, store)
	s := newService(store, idem.MethodOptions[receipt]{})
	if err := store.Resolve(t.Context(), "charge/r-1", idem.Resolution{Result: receipt{}}); !errors.Is(err, idem.ErrNotFound) {
		t.Errorf("absent: %v, want ErrNotFound", err)
	}
	if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
		t.Fatal(err)
	}
	if err := store.Resolve(t.Context(), "charge/r-1", idem.Resolution{Result: receipt{}}); !errors.Is(err, idem.ErrChanged) {
		t.Errorf("completed: %v, want ErrChanged", err)
	}
	if err := store.Resolve(t.Context(), "charge/r-1", idem.Resolution{Result: func() {}}); err == nil {
		t.Error("a result that does not encode was accepted")
	}
}

func TestLookupShowsTheResultWithoutItsEnvelope(t *testing.T) {
	backend := newHooked()
	store := idem.New(backend)
	defer closeStore(t, store)
	s := newService(store, idem.MethodOptions[receipt]{TTL: idem.Forever})
	if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
		t.Fatal(err)
	}
	r, found, err := store.Lookup(t.Context(), "charge/r-1")
	if err != nil || !found || string(r.Result) != `{"ID":"r-1","Lines":["line"]}` || r.TTLLeft != idem.Forever {
		t.Errorf("%+v %s, %v, %v", r, r.Result, found, err)
	}
	backend.lookup = func(context.Context, string) (idem.Record, bool, error) {
		return idem.Record{State: idem.Completed, Result: []byte("nonsense")}, true, nil
	}
	var decode *idem.DecodeError
	if _, found, err := store.Lookup(t.Context(), "charge/r-1"); !found || !errors.As(err, &decode) {
		t.Errorf("a record without an envelope: %v, %v", found, err)
	}
}

func TestOperatorsSeeTheBackendsFailure(t *testing.T) {
	backend := newHooked()
	store := idem.New(backend)
	defer closeStore(t, store)
	die(t, backend.backend, "k", time.Hour)
	check := func(action string, err error) {
		t.Helper()
		var failure *idem.BackendError
		if !errors.As(err, &failure) || failure.Action != action || failure.Key != "k" {
			t.Errorf("%v, want a *BackendError about %s", err, action)
		}
	}
	backend.complete = func(context.Context, idem.Completion) (bool, error) { return false, errDown }
	check("complete", store.Resolve(t.Context(), "k", idem.Resolution{Result: 1}))
	backend.claim = func(context.Context, idem.ClaimRequest) (idem.ClaimResult, error) { return idem.ClaimResult{}, errDown }
	check("claim", store.Resolve(t.Context(), "k", idem.Resolution{Result: 1}))
	backend.release = func(context.Context, string, idem.Fence) (bool, error) { return false, errDown }
	check("release", store.Forget(t.Context(), "k"))
	backend.lookup = func(context.Context, string) (idem.Record, bool, error) { return idem.Record{}, false, errDown }
	check("lookup", store.Forget(t.Context(), "k"))
	check("lookup", store.Resolve(t.Context(), "k", idem.Resolution{Result: 1}))
	_, _, err := store.Lookup(t.Context(), "k")
	check("lookup", err)
}

func TestOperatorSettlesOnlyWhatHeSaw(t *testing.T) {
	backend := newHooked()
	store := idem.New(backend)
	defer closeStore(t, store)
	fence := die(t, backend.backend, "k", time.Hour)
	backend.lookup = func(ctx context.Context, key string) (idem.Record, bool, error) {
		r, found, err := backend.backend.Lookup(ctx, key)
		r.Fence = fence - 1 // claimed anew since
		return r, found, err
	}
	if err := store.Forget(t.Context(), "k"); !errors.Is(err, idem.ErrChanged) {
		t.Errorf("Forget: %v, want ErrChanged", err)
	}
	if err := store.Resolve(t.Context(), "k", idem.Resolution{Result: 1}); !errors.Is(err, idem.ErrChanged) {
		t.Errorf("Resolve: %v, want ErrChanged", err)
	}
}
