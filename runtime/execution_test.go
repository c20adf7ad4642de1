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

func TestExecutionIsReadableInside(t *testing.T) {
	store := idem.New(memory.New())
	defer closeStore(t, store)
	s := newService(store, idem.MethodOptions[receipt]{})
	type tag struct{}
	s.charge = func(ctx context.Context, id string, _ int64) (receipt, error) {
		x, ok := idem.ExecutionFrom(ctx)
		if !ok || x.Operation != "charge" || x.Key != "charge/r-1" || x.Attempt != 1 || x.Fence == 0 {
			t.Errorf("execution %+v, %v", x, ok)
		}
		if ctx.Value(tag{}) != "kept" {
			t.Error("the caller's values are gone")
		}
		a, b := x.Child("a"), x.Child("b")
		if a == b || a != x.Child("a") || a == x.Key {
			t.Errorf("child keys %q and %q", a, b)
		}
		return receipt{ID: id}, nil
	}
	if _, ok := idem.ExecutionFrom(t.Context()); ok {
		t.Error("there is an execution outside of any")
	}
	if _, err := s.Charge(context.WithValue(t.Context(), tag{}, "kept"), "r-1", "10"); err != nil {
		t.Error(err)
	}
}

func TestCallInsideItsOwnExecutionIsAnError(t *testing.T) {
	backend := memory.New()
	store, twin, other := idem.New(backend), idem.New(backend), idem.New(memory.New())
	for _, s := range []*idem.Store{store, twin, other} {
		defer closeStore(t, s)
	}
	s := newService(store, idem.MethodOptions[receipt]{})
	s.charge = func(ctx context.Context, id string, _ int64) (receipt, error) {
		for _, again := range []*idem.Store{store, twin} {
			_, err := newService(again, idem.MethodOptions[receipt]{}).Charge(ctx, id, "10")
			if !errors.Is(err, idem.ErrReentrant) || idem.Advise(err) != idem.DoNotRetry {
				t.Errorf("%v, want ErrReentrant", err)
			}
		}
		// The same key on a backend of its own is a layer, not a circle.
		if _, err := newService(other, idem.MethodOptions[receipt]{}).Charge(ctx, id, "10"); err != nil {
			t.Error(err)
		}
		// Through another execution in between it is still a circle.
		inner := newService(store, idem.MethodOptions[receipt]{Operation: "inner"})
		inner.charge = func(ctx context.Context, id string, _ int64) (receipt, error) {
			_, err := s.Charge(ctx, id, "10")
			if !errors.Is(err, idem.ErrReentrant) {
				t.Errorf("%v, want ErrReentrant", err)
			}
			return receipt{ID: "inner"}, nil
		}
		if _, err := inner.Charge(ctx, id, "10"); err != nil {
			t.Error(err)
		}
		return receipt{ID: id}, nil
	}
	if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
		t.Error(err)
	}
}

func TestNestedCallsKeepTheirOwnResults(t *testing.T) {
	store := idem.New(memory.New())
	defer closeStore(t, store)
	inner := newService(store, idem.MethodOptions[receipt]{Operation: "inner"})
	outer := newService(store, idem.MethodOptions[receipt]{Operation: "outer"})
	inner.charge = func(context.Context, string, int64) (receipt, error) { return receipt{ID: "inner"}, nil }
	outer.charge = func(ctx context.Context, id string, _ int64) (receipt, error) {
		if _, err := inner.Charge(ctx, id, "10"); err != nil {
			return receipt{}, err
		}
		return receipt{ID: "outer"}, nil
	}
	for range 2 {
		for want, s := range map[string]*service{"outer": outer, "inner": inner} {
			if r, err := s.Charge(t.Context(), "r-1", "10"); err != nil || r.ID != want {
				t.Errorf("%s: %+v, %v", want, r, err)
			}
		}
	}
}

func TestOutcomeIsReadableByTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := idem.New(memory.New())
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{})
		inner := newService(store, idem.MethodOptions[receipt]{Operation: "inner"})
		s.charge = func(ctx context.Context, id string, _ int64) (receipt, error) {
			inner.Charge(ctx, id, "10") // must not count as the outcome of the outer call
			time.Sleep(time.Second)
			return receipt{ID: id}, nil
		}
		call := func() idem.Outcome {
			ctx, outcome := idem.WithOutcome(t.Context())
			if o := outcome(); o != (idem.Outcome{}) {
				t.Errorf("outcome %+v before any call", o)
			}
			if _, err := s.Charge(ctx, "r-1", "10"); err != nil {
				t.Error(err)
			}
			return outcome()
		}
		first := make(chan idem.Outcome)
		go func() { first <- call() }()
		synctest.Wait()
		joined := call()
		executed := <-first
		if executed.Kind != idem.Executed || executed.Key != "charge/r-1" || executed.Attempt != 1 || executed.Repeated() {
			t.Errorf("leader: %+v", executed)
		}
		if joined.Kind != idem.Joined || joined.Fence != executed.Fence || !joined.Repeated() {
			t.Errorf("follower: %+v", joined)
		}
		if replayed := call(); replayed.Kind != idem.Replayed || replayed.Fence != executed.Fence || !replayed.Repeated() {
			t.Errorf("retry: %+v", replayed)
		}
	})
}

func TestScopeKeepsTenantsApart(t *testing.T) {
	type tenant struct{}
	broken := errors.New("no session")
	store := idem.New(memory.New(), idem.WithScope(func(ctx context.Context) (string, error) {
		name, _ := ctx.Value(tenant{}).(string)
		if name == "broken" {
			return "", broken
		}
		return name, nil
	}))
	defer closeStore(t, store)
	s := newService(store, idem.MethodOptions[receipt]{})
	s.charge = func(ctx context.Context, id string, run int64) (receipt, error) {
		return receipt{ID: ctx.Value(tenant{}).(string)}, nil
	}
	for _, name := range []string{"a", "b", "a", "b"} {
		if r, err := s.Charge(context.WithValue(t.Context(), tenant{}, name), "r-1", "10"); err != nil || r.ID != name {
			t.Errorf("tenant %s got %+v, %v", name, r, err)
		}
	}
	if _, err := s.Charge(t.Context(), "r-1", "10"); !errors.Is(err, idem.ErrNoScope) {
		t.Errorf("no tenant: %v, want ErrNoScope", err)
	}
	if _, err := s.Charge(context.WithValue(t.Context(), tenant{}, "broken"), "r-1", "10"); !errors.Is(err, broken) {
		t.Errorf("failing scope: %v", err)
	}
	call := idem.Call{Operation: "greet", Key: "r-1"}
	for _, name := range []string{"a", "b", "a", "b"} {
		got, err := idem.Do(context.WithValue(t.Context(), tenant{}, name), store, call, func(context.Context) (string, error) { return name, nil })
		if err != nil || got != name {
			t.Errorf("Do: tenant %s got %q, %v", name, got, err)
		}
	}
	if _, err := idem.Do(t.Context(), store, call, func(context.Context) (string, error) { return "", nil }); !errors.Is(err, idem.ErrNoScope) {
		t.Errorf("Do without a tenant: %v, want ErrNoScope", err)
	}
	if n := s.runs.Load(); n != 2 {
		t.Errorf("%d executions, want one a tenant", n)
	}
}
