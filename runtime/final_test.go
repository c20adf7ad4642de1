package idem_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

var (
	errBlocked = errors.New("account blocked")
	errOther   = errors.New("try later")
)

type declinedError struct {
	Code   string
	Amount int64
}

func (e *declinedError) Error() string { return fmt.Sprintf("declined: %s (%d)", e.Code, e.Amount) }

type brokenError struct{ F func() }

func (e *brokenError) Error() string { return "broken" }

var finals = []idem.Final{
	idem.FinalError("errBlocked", errBlocked),
	idem.FinalType[*declinedError]("*declinedError"),
	idem.FinalType[*brokenError]("*brokenError"),
}

func TestFinalErrorsAreReplayed(t *testing.T) {
	declined := &declinedError{"51", 1 << 60}
	for name, c := range map[string]struct {
		err  error
		bare bool
	}{
		"value":         {errBlocked, true},
		"type":          {declined, true},
		"wrapped value": {fmt.Errorf("charging: %w", errBlocked), false},
		"wrapped type":  {fmt.Errorf("charging: %w", declined), false},
		"both":          {errors.Join(errBlocked, declined), false},
	} {
		t.Run(name, func(t *testing.T) {
			backend := memory.New()
			for i := range 3 { // executed, replayed by decoding, replayed from this process
				store := idem.New(backend)
				s := newService(store, idem.MethodOptions[receipt]{Final: finals})
				s.charge = func(context.Context, string, int64) (receipt, error) { return receipt{ID: "partial"}, c.err }
				for range 1 + i {
					r, err := s.Charge(t.Context(), "r-1", "10")
					if err == nil || err.Error() != c.err.Error() || r.ID != "partial" {
						t.Fatalf("%+v, %v; want %v", r, err, c.err)
					}
					if errors.Is(err, errBlocked) != errors.Is(c.err, errBlocked) {
						t.Errorf("errors.Is differs: %v", err)
					}
					var got, want *declinedError
					errors.As(err, &got)
					errors.As(c.err, &want)
					if !reflect.DeepEqual(got, want) {
						t.Errorf("errors.As: %+v, want %+v", got, want)
					}
					if c.bare && reflect.TypeOf(err) != reflect.TypeOf(c.err) {
						t.Errorf("%T came back as %T", c.err, err)
					}
				}
				if n := s.runs.Load(); i == 0 && n != 1 || i > 0 && n != 0 {
					t.Errorf("%d executions in round %d", n, i)
				}
				closeStore(t, store)
			}
		})
	}
}

func TestOtherErrorsAreNotFinal(t *testing.T) {
	store := idem.New(memory.New())
	defer closeStore(t, store)
	s := newService(store, idem.MethodOptions[receipt]{Final: finals})
	s.charge = func(context.Context, string, int64) (receipt, error) { return receipt{}, errOther }
	for range 2 {
		if _, err := s.Charge(t.Context(), "r-1", "10"); err != errOther {
			t.Errorf("%v, want the method's own error", err)
		}
	}
	if n := s.runs.Load(); n != 2 {
		t.Errorf("%d executions, want 2", n)
	}
}

func TestUncertainIsNeverFinal(t *testing.T) {
	store := idem.New(memory.New())
	defer closeStore(t, store)
	s := newService(store, idem.MethodOptions[receipt]{Final: finals, Refuse: true})
	s.charge = func(context.Context, string, int64) (receipt, error) { return receipt{}, idem.Uncertain(errBlocked) }
	s.Charge(t.Context(), "r-1", "10")
	if _, err := s.Charge(t.Context(), "r-1", "10"); !errors.Is(err, idem.ErrInterrupted) {
		t.Errorf("%v, want ErrInterrupted", err)
	}
}

func TestFinalErrorThatCannotBeKept(t *testing.T) {
	store := idem.New(memory.New())
	defer closeStore(t, store)
	s := newService(store, idem.MethodOptions[receipt]{Final: finals})
	s.charge = func(context.Context, string, int64) (receipt, error) { return receipt{}, &brokenError{func() {}} }
	if _, err := s.Charge(t.Context(), "r-1", "10"); err == nil || err.Error() != "broken" {
		t.Errorf("the first caller got %v", err)
	}
	if _, err := s.Charge(t.Context(), "r-1", "10"); !errors.Is(err, idem.ErrResultUnavailable) {
		t.Errorf("replay: %v, want ErrResultUnavailable", err)
	}
}

func TestFinalThatIsNoneAnyMore(t *testing.T) {
	for name, record := range map[string]string{
		"renamed":   "1e json\n{\"text\":\"x\",\"matches\":[{\"name\":\"errGone\",\"bare\":true}]}\n{}",
		"other":     "1e json\n{\"text\":\"x\",\"matches\":[{\"name\":\"*declinedError\",\"value\":[]}]}\n{}",
		"truncated": "1e json\n{\"text\":",
	} {
		backend := memory.New()
		fence := die(t, backend, "charge/r-1", time.Minute)
		if held, err := backend.Complete(t.Context(), idem.Completion{Key: "charge/r-1", Fence: fence, Result: []byte(record), TTL: time.Hour}); !held || err != nil {
			t.Fatal(held, err)
		}
		store := idem.New(backend)
		s := newService(store, idem.MethodOptions[receipt]{Final: finals})
		_, err := s.Charge(t.Context(), "r-1", "10")
		var decode *idem.DecodeError
		if !errors.As(err, &decode) || s.runs.Load() != 0 {
			t.Errorf("%s: %v after %d executions, want a *DecodeError", name, err, s.runs.Load())
		}
		closeStore(t, store)
	}
}

func TestCodecOfTheUsersOwn(t *testing.T) {
	backend := memory.New()
	plain := idem.NewCodec("plain",
		func(v any) ([]byte, error) { return []byte(v.(*receipt).ID), nil },
		func(data []byte, v any) error { v.(*receipt).ID = string(data); return nil })
	for range 2 {
		store := idem.New(backend)
		s := newService(store, idem.MethodOptions[receipt]{Codec: plain})
		if r, err := s.Charge(t.Context(), "r-1", "10"); err != nil || r.ID != "r-1" {
			t.Errorf("%+v, %v", r, err)
		}
		r, _, _ := store.Lookup(t.Context(), "charge/r-1")
		if string(r.Result) != "r-1" {
			t.Errorf("recorded %q", r.Result)
		}
		closeStore(t, store)
	}
	store := idem.New(backend)
	defer closeStore(t, store)
	var decode *idem.DecodeError
	if _, err := newService(store, idem.MethodOptions[receipt]{}).Charge(t.Context(), "r-1", "10"); !errors.As(err, &decode) || decode.Codec != "plain" {
		t.Errorf("another codec: %v, want a *DecodeError", err)
	}
}

func TestAskingBeforeRunningAgain(t *testing.T) {
	unknown := errors.New("the processor does not answer")
	for name, c := range map[string]struct {
		found bool
		err   error
		runs  int64
		kind  idem.EventKind
	}{
		"found":     {true, nil, 0, idem.Recovered},
		"not found": {false, nil, 1, idem.Executed},
		"error":     {false, unknown, 0, idem.Uncertained},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				backend, log := memory.New(), &events{}
				store := idem.New(backend, idem.WithObserver(log))
				defer closeStore(t, store)
				s := newService(store, idem.MethodOptions[receipt]{})
				asked := 0
				call := func() (receipt, error) {
					var key idem.KeyBuilder
					key.String("r-1")
					return s.method.RunAsking(t.Context(), &key, nil,
						func(ctx context.Context) (receipt, error) { return s.charge(ctx, "ran", s.runs.Add(1)) },
						func(ctx context.Context) (receipt, bool, error) {
							if asked++; asked > 1 {
								return receipt{ID: "found late"}, true, nil
							}
							if _, ok := idem.ExecutionFrom(ctx); !ok {
								t.Error("asked outside of the execution")
							}
							return receipt{ID: "found"}, c.found, c.err
						})
				}
				die(t, backend, "charge/r-1", time.Second)
				r, err := call()
				switch {
				case err != c.err:
					t.Errorf("%v, want %v", err, c.err)
				case c.found && r.ID != "found", c.runs == 1 && r.ID != "ran":
					t.Errorf("got %+v", r)
				}
				if n := s.runs.Load(); n != c.runs || asked != 1 {
					t.Errorf("%d executions after %d questions, want %d", n, asked, c.runs)
				}
				if _, ok := log.find(c.kind); !ok {
					t.Errorf("events %v, want %v", log.kinds(), c.kind)
				}
				again, err := call()
				want := r.ID
				if c.err != nil {
					want = "found late" // what was not answered is asked again
				}
				if err != nil || again.ID != want {
					t.Errorf("next call: %+v, %v; want %q", again, err, want)
				}
			})
		})
	}
}

func TestQuestionThatPanicsIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := memory.New()
		store := idem.New(backend)
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{})
		asked := 0
		call := func() (receipt, error) {
			var key idem.KeyBuilder
			key.String("r-1")
			return s.method.RunAsking(t.Context(), &key, nil,
				func(context.Context) (receipt, error) { return receipt{}, errors.New("ran") },
				func(context.Context) (receipt, bool, error) {
					if asked++; asked == 1 {
						panic("boom")
					}
					return receipt{ID: "found"}, true, nil
				})
		}
		die(t, backend, "charge/r-1", time.Second)
		func() {
			defer func() {
				if got := recover(); got != "boom" {
					t.Errorf("panicked with %v", got)
				}
			}()
			call()
		}()
		if r, err := call(); err != nil || r.ID != "found" {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func TestFirstAttemptIsNotAsked(t *testing.T) {
	store := idem.New(memory.New())
	defer closeStore(t, store)
	s := newService(store, idem.MethodOptions[receipt]{})
	var key idem.KeyBuilder
	key.String("r-1")
	_, err := s.method.RunAsking(t.Context(), &key, nil,
		func(ctx context.Context) (receipt, error) { return receipt{}, nil },
		func(context.Context) (receipt, bool, error) { return receipt{}, false, errors.New("asked") })
	if err != nil {
		t.Error(err)
	}
}
