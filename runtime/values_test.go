package idem_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

// Presence is a state of the record: nothing about a value makes it look
// absent, and its static type brings it back.
func TestEveryValueReplays(t *testing.T) {
	backend := memory.New()
	check := func(name string, call func(*idem.Store) (any, error)) {
		t.Helper()
		var first any
		for i := range 3 { // executed, replayed by decoding, replayed from this process
			store := idem.New(backend)
			for range 1 + i {
				got, err := call(store)
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if i == 0 {
					first = got
				} else if !reflect.DeepEqual(got, first) {
					t.Errorf("%s: replay %#v, first %#v", name, got, first)
				}
			}
			closeStore(t, store)
		}
	}
	value(check, "zero int", 0)
	value(check, "large int", int64(math.MaxInt64))
	value(check, "large uint", uint64(math.MaxUint64))
	value(check, "float", 0.1+0.2)
	value(check, "false", false)
	value(check, "empty string", "")
	value(check, "nothing", struct{}{})
	value(check, "nil slice", []int(nil))
	value(check, "empty slice", []int{})
	value(check, "nil map", map[string]int(nil))
	value(check, "empty map", map[string]int{})
	value(check, "nil pointer", (*receipt)(nil))
	value(check, "pointer to zero", &receipt{})
	value(check, "bytes", []byte{0, 1, 255})
	value(check, "instant", time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC))
	value(check, "nested", map[string][]*receipt{"a": {nil, {ID: "x"}}})
}

func value[T any](check func(string, func(*idem.Store) (any, error)), name string, v T) {
	runs := 0
	check(name, func(store *idem.Store) (any, error) {
		got, err := idem.Do(context.Background(), store, idem.Call{Operation: "values", Key: name}, func(context.Context) (T, error) {
			if runs++; runs > 1 {
				return v, errors.New("ran again")
			}
			return v, nil
		})
		return got, err
	})
}

func TestTTLTable(t *testing.T) {
	for _, c := range []struct{ store, method, want time.Duration }{
		{0, 0, 24 * time.Hour},
		{time.Hour, 0, time.Hour},
		{time.Hour, time.Minute, time.Minute},
		{time.Minute, 7 * 24 * time.Hour, 7 * 24 * time.Hour},
		{time.Minute, time.Millisecond, time.Millisecond},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var options []idem.Option
				if c.store != 0 {
					options = append(options, idem.WithTTL(c.store))
				}
				store := idem.New(memory.New(), options...)
				defer closeStore(t, store)
				s := newService(store, idem.MethodOptions[receipt]{TTL: c.method})
				runs := func() int64 {
					if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
						t.Fatal(err)
					}
					return s.runs.Load()
				}
				runs()
				time.Sleep(c.want - time.Microsecond)
				if n := runs(); n != 1 {
					t.Errorf("just before the TTL ends: %d executions", n)
				}
				time.Sleep(2 * time.Microsecond)
				if n := runs(); n != 2 {
					t.Errorf("just after the TTL ended: %d executions", n)
				}
			})
		})
	}
}

func TestForeverReplaysAfterYears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := idem.New(memory.New(), idem.WithSweep(0, 0))
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{TTL: idem.Forever})
		for range 3 {
			if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * 365 * 24 * time.Hour)
		}
		if n := s.runs.Load(); n != 1 {
			t.Errorf("%d executions, want 1", n)
		}
	})
}

func TestConfigurationBelongsToTheOperation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := idem.New(memory.New())
		defer closeStore(t, store)
		short := newService(store, idem.MethodOptions[receipt]{Operation: "short", TTL: time.Minute})
		long := newService(store, idem.MethodOptions[receipt]{Operation: "long", TTL: time.Hour})
		for range 2 {
			for _, s := range []*service{short, long} {
				if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(2 * time.Minute)
		}
		if short.runs.Load() != 2 || long.runs.Load() != 1 {
			t.Errorf("%d and %d executions, want 2 and 1", short.runs.Load(), long.runs.Load())
		}
	})
}

func TestSecondReplayAsksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newHooked()
		store := idem.New(backend, idem.WithCache(64, 5*time.Second))
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{Copy: copyReceipt})
		charge := func() int {
			if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
				t.Fatal(err)
			}
			return backend.count("claim")
		}
		if first, second := charge(), charge(); first != 1 || second != 1 {
			t.Errorf("%d and %d claims, want 1 and 1", first, second)
		}
		time.Sleep(5 * time.Second)
		if n := charge(); n != 2 {
			t.Errorf("%d claims after the cache's age, want 2", n)
		}
	})
}

func TestCacheHoldsNoMoreThanItsLimit(t *testing.T) {
	backend := newHooked()
	store := idem.New(backend, idem.WithCache(64, time.Hour)) // one for each shard
	defer closeStore(t, store)
	s := newService(store, idem.MethodOptions[receipt]{})
	for range 2 {
		for i := range 1000 {
			if _, err := s.Charge(t.Context(), fmt.Sprint("r-", i), "10"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := backend.count("claim"); n < 1900 || s.runs.Load() != 1000 {
		t.Errorf("%d claims for 2000 calls, %d executions", n, s.runs.Load())
	}
}

func TestEmptyKey(t *testing.T) {
	backend, log := newHooked(), &events{}
	store := idem.New(backend, idem.WithObserver(log))
	defer closeStore(t, store)
	strict, optional := newService(store, idem.MethodOptions[receipt]{}), newService(store, idem.MethodOptions[receipt]{Optional: true})
	_, err := strict.Charge(t.Context(), "", "10")
	var call *idem.CallError
	if !errors.Is(err, idem.ErrEmptyKey) || !errors.As(err, &call) || call.Argument != "id" || strict.runs.Load() != 0 {
		t.Errorf("%v after %d executions, want ErrEmptyKey that names id", err, strict.runs.Load())
	}
	for range 2 {
		if _, err := optional.Charge(t.Context(), "", "10"); err != nil {
			t.Error(err)
		}
	}
	if n := optional.runs.Load(); n != 2 {
		t.Errorf("%d unprotected executions, want 2", n)
	}
	if _, err := doOnce(t, store, "", 1); !errors.Is(err, idem.ErrEmptyKey) {
		t.Errorf("Do: %v, want ErrEmptyKey", err)
	}
	if n := backend.count("claim"); n != 0 {
		t.Errorf("%d claims without a key", n)
	}
	log.want(t, idem.Failed, idem.Unprotected, idem.Unprotected, idem.Failed)
}
