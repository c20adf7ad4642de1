package idem_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

func TestCompletionThatFailsIsMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend, log := newHooked(), &events{}
		backend.complete = func(context.Context, idem.Completion) (bool, error) { return false, errDown }
		store := idem.New(backend, idem.WithObserver(log), idem.WithCache(0, 0))
		s := newService(store, idem.MethodOptions[receipt]{Lease: 3 * time.Second})
		for range 3 {
			r, err := s.Charge(t.Context(), "r-1", "10")
			if err != nil || r.ID != "r-1" {
				t.Fatalf("while unsettled: %+v, %v", r, err)
			}
		}
		if _, err := s.Charge(t.Context(), "r-1", "11"); !errors.Is(err, idem.ErrKeyReused) {
			t.Errorf("other arguments while unsettled: %v", err)
		}
		time.Sleep(time.Minute) // twenty leases: the claim stays renewed
		if r, _, _ := store.Lookup(t.Context(), "charge/r-1"); r.State != idem.Pending || r.LeaseLeft <= 0 {
			t.Errorf("the claim did not stay renewed: %+v", r)
		}
		backend.set(func(h *hooked) { h.complete = nil })
		time.Sleep(10 * time.Second)
		if r, _, _ := store.Lookup(t.Context(), "charge/r-1"); r.State != idem.Completed {
			t.Errorf("not settled after the outage: %+v", r)
		}
		if n := s.runs.Load(); n != 1 {
			t.Errorf("%d executions, want 1", n)
		}
		closeStore(t, store)
		log.want(t, idem.Unsettled, idem.Executed, idem.Replayed, idem.Replayed, idem.Conflicted, idem.Settled)
	})
}

func TestCompletionIgnoresTheCallersCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newHooked()
		backend.complete = func(ctx context.Context, c idem.Completion) (bool, error) {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			return backend.backend.Complete(ctx, c)
		}
		log := &events{}
		store := idem.New(backend, idem.WithObserver(log))
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{})
		ctx, cancel := context.WithCancel(t.Context())
		s.charge = func(_ context.Context, id string, _ int64) (receipt, error) {
			cancel() // the caller hangs up after the effect
			return receipt{ID: id}, nil
		}
		if _, err := s.Charge(ctx, "r-1", "10"); err != nil {
			t.Error(err)
		}
		log.want(t, idem.Executed)
	})
}

func TestLossWhileUnsettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend, log := newHooked(), &events{}
		backend.complete = func(context.Context, idem.Completion) (bool, error) { return false, errDown }
		store := idem.New(backend, idem.WithObserver(log), idem.WithCache(0, 0))
		s := newService(store, idem.MethodOptions[receipt]{})
		if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
			t.Fatal(err)
		}
		operator := idem.New(backend.backend)
		if err := operator.Resolve(t.Context(), "charge/r-1", idem.Resolution{Result: receipt{ID: "resolved"}}); err != nil {
			t.Fatal(err)
		}
		closeStore(t, operator)
		backend.set(func(h *hooked) { h.complete = nil })
		time.Sleep(time.Minute)
		r, err := s.Charge(t.Context(), "r-1", "10")
		if err != nil || r.ID != "resolved" {
			t.Errorf("after the loss: %+v, %v, want the recorded result", r, err)
		}
		closeStore(t, store)
		log.want(t, idem.Unsettled, idem.Executed, idem.Lost, idem.Replayed)
	})
}

func TestCloseFlushesOrReportsUnsettledResults(t *testing.T) {
	for name, up := range map[string]bool{"flushes": true, "reports": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				backend := newHooked()
				backend.complete = func(context.Context, idem.Completion) (bool, error) { return false, errDown }
				store := idem.New(backend)
				s := newService(store, idem.MethodOptions[receipt]{})
				if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
					t.Fatal(err)
				}
				if up {
					backend.set(func(h *hooked) { h.complete = nil })
				}
				err := store.Close(t.Context())
				switch {
				case up && err != nil:
					t.Errorf("Close: %v", err)
				case !up && (!errors.Is(err, errDown) || !strings.Contains(err.Error(), "charge/r-1")):
					t.Errorf("Close: %v, want an error that names the key", err)
				}
			})
		})
	}
}

func TestUncertainOutcomeIsLeftToTheRecoverPolicy(t *testing.T) {
	timeout := errors.New("gateway timeout")
	for name, refuse := range map[string]bool{"rerun": false, "refuse": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := idem.New(memory.New())
				defer closeStore(t, store)
				s := newService(store, idem.MethodOptions[receipt]{Refuse: refuse})
				s.charge = func(_ context.Context, id string, run int64) (receipt, error) {
					if run == 1 {
						return receipt{}, idem.Uncertain(timeout)
					}
					return receipt{ID: id}, nil
				}
				if _, err := s.Charge(t.Context(), "r-1", "10"); !errors.Is(err, timeout) || !idem.IsUncertain(err) {
					t.Fatalf("%v, want the uncertain error", err)
				}
				start := time.Now()
				r, err := s.Charge(t.Context(), "r-1", "10")
				if refuse {
					if !errors.Is(err, idem.ErrInterrupted) {
						t.Errorf("%v, want ErrInterrupted", err)
					}
				} else if err != nil || r.ID != "r-1" {
					t.Errorf("rerun: %+v, %v", r, err)
				}
				if d := time.Since(start); d > time.Second {
					t.Errorf("decided after %v; the lease should have ended at once", d)
				}
			})
		})
	}
}

type unencodable struct{ F func() }

type explosive struct{}

func (explosive) MarshalJSON() ([]byte, error) { panic("boom") }

func doOnce[T any](t *testing.T, store *idem.Store, key string, v T) (T, error) {
	t.Helper()
	return idem.Do(t.Context(), store, idem.Call{Operation: "op", Key: key}, func(context.Context) (T, error) { return v, nil })
}

func TestResultThatCannotBeKeptIsNeverAReasonToRunAgain(t *testing.T) {
	store := idem.New(memory.New(), idem.WithResultLimit(100))
	defer closeStore(t, store)
	check := func(name string, call func() error) {
		t.Helper()
		if err := call(); err != nil {
			t.Errorf("%s: the first caller got %v instead of its result", name, err)
		}
		for range 2 {
			if err := call(); !errors.Is(err, idem.ErrResultUnavailable) || idem.Advise(err) != idem.DoNotRetry {
				t.Errorf("%s: replay: %v, want ErrResultUnavailable", name, err)
			}
		}
	}
	check("func", func() error { _, err := doOnce(t, store, "func", unencodable{func() {}}); return err })
	check("panic", func() error { _, err := doOnce(t, store, "panic", explosive{}); return err })
	check("large", func() error { _, err := doOnce(t, store, "large", strings.Repeat("x", 101)); return err })
	check("bytes", func() error { _, err := doOnce(t, store, "bytes", "\xff\xfe"); return err })
}

func TestStrictStoreReturnsWhatAReplayWould(t *testing.T) {
	store := idem.New(memory.New(), idem.WithStrict())
	defer closeStore(t, store)
	type lossy struct {
		ID     string
		hidden string
	}
	for range 2 {
		v, err := doOnce(t, store, "k", lossy{"id", "hidden"})
		if err != nil || v.hidden != "" || v.ID != "id" {
			t.Errorf("%+v, %v", v, err)
		}
	}
}

func TestRecordThatDoesNotDecodeIsNotRunAgain(t *testing.T) {
	store := idem.New(memory.New(), idem.WithCache(0, 0))
	defer closeStore(t, store)
	if _, err := doOnce(t, store, "k", "text"); err != nil {
		t.Fatal(err)
	}
	_, err := doOnce(t, store, "k", 7)
	var decode *idem.DecodeError
	if !errors.As(err, &decode) || decode.Codec != "json" || idem.Advise(err) != idem.DoNotRetry {
		t.Errorf("%v, want a *DecodeError", err)
	}
}

// A marshaler's own \ufffd, and the character itself, are not damage.
func TestReplacementCharacterIsKept(t *testing.T) {
	store := idem.New(memory.New(), idem.WithCache(0, 0))
	defer closeStore(t, store)
	for i, text := range []string{"\ufffd", `\ufffd`, `\\ufffd`} {
		for range 2 {
			if got, err := doOnce(t, store, string(rune('a'+i)), text); err != nil || got != text {
				t.Errorf("%q: %q, %v", text, got, err)
			}
		}
	}
}

type node struct{ Next *node }

// copyNode is what the generator would write: it never ends on a circle.
func copyNode(n *node) *node {
	if n == nil {
		return nil
	}
	return &node{copyNode(n.Next)}
}

func TestCircularResultIsReturnedAndNotKept(t *testing.T) {
	store := idem.New(memory.New())
	defer closeStore(t, store)
	m := idem.NewMethod(store, idem.MethodOptions[*node]{Operation: "circle", Copy: copyNode})
	circle := &node{}
	circle.Next = circle
	call := func() (*node, error) {
		var key idem.KeyBuilder
		key.String("k")
		return m.Run(t.Context(), &key, nil, func(context.Context) (*node, error) { return circle, nil })
	}
	if got, err := call(); got != circle || err != nil {
		t.Errorf("first call: %v, %v", got, err)
	}
	if _, err := call(); !errors.Is(err, idem.ErrResultUnavailable) {
		t.Errorf("replay: %v, want ErrResultUnavailable", err)
	}
}

type pointy struct{ hidden string }

func (p *pointy) MarshalJSON() ([]byte, error) { return []byte(`"` + p.hidden + `"`), nil }
func (p *pointy) UnmarshalJSON(b []byte) error { p.hidden = strings.Trim(string(b), `"`); return nil }

func TestMarshalerWithAPointerReceiverIsCalled(t *testing.T) {
	store := idem.New(memory.New(), idem.WithCache(0, 0))
	defer closeStore(t, store)
	for range 2 {
		if v, err := doOnce(t, store, "k", pointy{"kept"}); err != nil || v.hidden != "kept" {
			t.Errorf("%+v, %v", v, err)
		}
	}
}

// What is left of a forgotten execution must not take the place of a new one.
func TestOldFlightLeavesTheNewOneAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := newHooked()
		backend.complete = func(context.Context, idem.Completion) (bool, error) { return false, errDown }
		store := idem.New(backend, idem.WithCache(0, 0))
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{})
		if _, err := s.Charge(t.Context(), "r-1", "10"); err != nil {
			t.Fatal(err)
		}
		if err := store.Forget(t.Context(), "charge/r-1"); err != nil {
			t.Fatal(err)
		}
		backend.set(func(h *hooked) { h.complete = nil })
		s.charge = func(_ context.Context, id string, _ int64) (receipt, error) {
			time.Sleep(time.Minute) // meanwhile the old result finds its claim gone
			return receipt{ID: "new"}, nil
		}
		second := make(chan receipt)
		go func() {
			r, err := s.Charge(context.Background(), "r-1", "10")
			if err != nil {
				t.Error(err)
			}
			second <- r
		}()
		time.Sleep(30 * time.Second)
		claims := backend.count("claim")
		third, err := s.Charge(t.Context(), "r-1", "10")
		if err != nil || third.ID != "new" || backend.count("claim") != claims {
			t.Errorf("third call: %+v, %v after %d claims of its own; it should have joined the second", third, err, backend.count("claim")-claims)
		}
		if r := <-second; r.ID != "new" {
			t.Errorf("second call: %+v", r)
		}
		if n := s.runs.Load(); n != 2 {
			t.Errorf("%d executions, want 2", n)
		}
	})
}
