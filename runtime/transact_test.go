package idem_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// A transacting is a backend with transactions that a test can make fail. What
// a transaction claims others see as pending; what it undoes it releases.
type transacting struct {
	*hooked
	unable error

	mu    sync.Mutex
	fails map[string][]error // what the next calls of a step return
	steps []string
}

type fakeTx struct {
	db     *transacting
	joined bool
	key    string
	fence  idem.Fence
	over   bool
}

type fakeTxKey struct{}

var errGaveUp = errors.New("could not serialize access")

func newTransacting() *transacting {
	return &transacting{hooked: newHooked(), fails: map[string][]error{}}
}

// step notes what was done, and returns the error that the test wants.
func (b *transacting) step(name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.steps = append(b.steps, name)
	if errs := b.fails[name]; len(errs) > 0 {
		b.fails[name] = errs[1:]
		return errs[0]
	}
	return nil
}

func (b *transacting) wantSteps(t *testing.T, want ...string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Equal(b.steps, want) {
		t.Errorf("steps %q, want %q", b.steps, want)
	}
	b.steps = nil
}

func (b *transacting) Transactional() error { return b.unable }

func (b *transacting) Inside(ctx context.Context) bool { return ctx.Value(fakeTxKey{}) != nil }

func (b *transacting) GaveUp(err error) bool { return errors.Is(err, errGaveUp) }

func (b *transacting) Begin(ctx context.Context) (idem.Transaction, error) {
	if err := b.step("begin"); err != nil {
		return nil, err
	}
	return &fakeTx{db: b, joined: b.Inside(ctx)}, nil
}

func (t *fakeTx) Claim(ctx context.Context, r idem.ClaimRequest, _ time.Duration) (idem.ClaimResult, error) {
	if err := t.db.step("claim"); err != nil {
		return idem.ClaimResult{}, err
	}
	result, err := t.db.Claim(ctx, r)
	t.key, t.fence = r.Key, result.Record.Fence
	t.over = result.Status != idem.ClaimWon
	return result, err
}

func (t *fakeTx) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, fakeTxKey{}, t)
}

func (t *fakeTx) Mark(context.Context) error    { return t.db.step("mark") }
func (t *fakeTx) Discard(context.Context) error { return t.db.step("discard") }

func (t *fakeTx) Complete(ctx context.Context, c idem.Completion) (bool, error) {
	if err := t.db.step("complete"); err != nil {
		return false, err
	}
	return t.db.Complete(ctx, c)
}

func (t *fakeTx) Commit(context.Context) error {
	err := t.db.step("commit")
	t.over = err == nil
	return err
}

func (t *fakeTx) Rollback(ctx context.Context) {
	if t.over {
		return
	}
	t.over = true
	_ = t.db.step("rollback")
	if t.key != "" {
		_, _ = t.db.Release(context.WithoutCancel(ctx), t.key, t.fence)
	}
}

// A txFixture is a method in transactional mode.
type txFixture struct {
	*transacting
	store  *idem.Store
	method *idem.Method[string]
	events events
}

func newTxFixture(t *testing.T, change func(*idem.MethodOptions[string]), opts ...idem.Option) *txFixture {
	t.Helper()
	f := &txFixture{transacting: newTransacting()}
	f.store = idem.New(f.transacting, append([]idem.Option{idem.WithObserver(&f.events), idem.WithSweep(0, 0)}, opts...)...)
	o := idem.MethodOptions[string]{Operation: "place", Tx: true}
	if change != nil {
		change(&o)
	}
	f.method = idem.NewMethod(f.store, o)
	return f
}

// call runs fn under the key "k".
func (f *txFixture) call(ctx context.Context, fn func(ctx context.Context) (string, error)) (string, error) {
	var key idem.KeyBuilder
	key.String("k")
	return f.method.Run(ctx, &key, nil, fn)
}

func succeed(context.Context) (string, error) { return "done", nil }

func TestTxExecutesAndReplays(t *testing.T) {
	f := newTxFixture(t, nil)
	for range 2 {
		got, err := f.call(t.Context(), func(ctx context.Context) (string, error) {
			if !f.Inside(ctx) {
				t.Error("the method has no transaction")
			}
			return "done", nil
		})
		if got != "done" || err != nil {
			t.Fatal(got, err)
		}
	}
	f.wantSteps(t, "begin", "claim", "complete", "commit")
	f.events.want(t, idem.Executed, idem.Replayed)
}

var errFinal = errors.New("final")

// Whatever keeps the method from being recorded undoes all of it, and the next
// call runs.
func TestTxUndoes(t *testing.T) {
	errMethod := errors.New("method")
	uncertain := idem.Uncertain(errDown)
	for name, c := range map[string]struct {
		fails map[string][]error
		fn    func(context.Context) (string, error)
		want  error
		kind  idem.EventKind
		steps []string
	}{
		"method": {
			fn:   func(context.Context) (string, error) { return "", errMethod },
			want: errMethod, kind: idem.Released, steps: []string{"begin", "claim", "mark", "rollback"},
		},
		"uncertain method": {
			fn:   func(context.Context) (string, error) { return "", uncertain },
			want: errDown, kind: idem.Uncertained, steps: []string{"begin", "claim", "mark", "rollback"},
		},
		"method given up": {
			fn:   func(context.Context) (string, error) { return "", errGaveUp },
			want: idem.ErrSerialization, kind: idem.Released, steps: []string{"begin", "claim", "mark", "rollback"},
		},
		"claims": {
			fails: map[string][]error{"claim": {errDown, errGaveUp}},
			want:  idem.ErrSerialization, kind: idem.Failed, steps: []string{"begin", "claim", "rollback", "begin", "claim", "rollback"},
		},
		"begins": {
			fails: map[string][]error{"begin": {errDown, errDown}},
			want:  errDown, kind: idem.Failed, steps: []string{"begin", "begin"},
		},
		"marks": {
			fails: map[string][]error{"mark": {errDown, errDown}},
			want:  errDown, kind: idem.Failed, steps: []string{"begin", "claim", "mark", "rollback", "begin", "claim", "mark", "rollback"},
		},
		"discard": {
			fails: map[string][]error{"discard": {errDown}},
			fn:    func(context.Context) (string, error) { return "", errFinal },
			want:  errDown, kind: idem.Released, steps: []string{"begin", "claim", "mark", "discard", "rollback"},
		},
		"complete": {
			fails: map[string][]error{"complete": {errDown}},
			want:  errDown, kind: idem.Released, steps: []string{"begin", "claim", "mark", "complete", "rollback"},
		},
		"commit": {
			fails: map[string][]error{"commit": {errGaveUp}},
			want:  idem.ErrSerialization, kind: idem.Released, steps: []string{"begin", "claim", "mark", "complete", "commit", "rollback"},
		},
		"uncertain commit": {
			fails: map[string][]error{"commit": {uncertain}},
			want:  errDown, kind: idem.Uncertained, steps: []string{"begin", "claim", "mark", "complete", "commit", "rollback"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newTxFixture(t, func(o *idem.MethodOptions[string]) {
				o.Final = []idem.Final{idem.FinalError("final", errFinal)}
			}, idem.WithFailOpen()) // which is not for methods that need a transaction
			f.fails = c.fails
			fn := c.fn
			if fn == nil {
				fn = succeed
			}
			got, err := f.call(t.Context(), fn)
			if got != "" || !errors.Is(err, c.want) {
				t.Errorf("%q, %v; want %v", got, err, c.want)
			}
			f.wantSteps(t, c.steps...)
			f.events.want(t, c.kind)
			if f.count("extend") > 0 {
				t.Error("a lease was ended that the transaction had already undone")
			}
			if got, err := f.call(t.Context(), succeed); got != "done" || err != nil {
				t.Errorf("the next call: %q, %v", got, err)
			}
		})
	}
}

func TestTxSurvivesOneFailure(t *testing.T) {
	f := newTxFixture(t, nil)
	f.fails = map[string][]error{"begin": {errDown}}
	if got, err := f.call(t.Context(), succeed); got != "done" || err != nil {
		t.Error(got, err)
	}
	f.wantSteps(t, "begin", "begin", "claim", "complete", "commit")
}

func TestTxRecordsFinalErrors(t *testing.T) {
	f := newTxFixture(t, func(o *idem.MethodOptions[string]) {
		o.Final = []idem.Final{idem.FinalError("final", errFinal)}
	})
	for range 2 {
		if _, err := f.call(t.Context(), func(context.Context) (string, error) { return "", errFinal }); !errors.Is(err, errFinal) {
			t.Error(err)
		}
	}
	f.wantSteps(t, "begin", "claim", "mark", "discard", "complete", "commit")
}

func TestTxLostClaim(t *testing.T) {
	f := newTxFixture(t, nil)
	f.set(func(h *hooked) {
		h.complete = func(context.Context, idem.Completion) (bool, error) { return false, nil }
	})
	if _, err := f.call(t.Context(), succeed); err == nil || !strings.Contains(err.Error(), "no longer in the transaction") {
		t.Error(err)
	}
	f.wantSteps(t, "begin", "claim", "complete", "rollback")
}

func TestTxPanicsUndo(t *testing.T) {
	for name, c := range map[string]struct {
		fn     func(context.Context) (string, error)
		value  any
		during idem.EventKind // at which the observer panics
		steps  []string
	}{
		"panic":    {fn: func(context.Context) (string, error) { panic("oops") }, value: "oops", steps: []string{"begin", "claim", "rollback"}},
		"Goexit":   {fn: func(context.Context) (string, error) { runtime.Goexit(); return "", nil }, steps: []string{"begin", "claim", "rollback"}},
		"observer": {fn: succeed, value: "observer", during: idem.TakenOver, steps: []string{"begin", "claim", "rollback"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newTxFixture(t, nil, idem.WithObserver(idem.ObserverFunc(func(_ context.Context, e idem.Event) {
				if c.during != 0 && e.Kind == c.during {
					panic("observer")
				}
			})))
			if c.during == idem.TakenOver {
				if _, err := f.backend.Extend(t.Context(), []idem.Extension{{Key: "place/k", Fence: die(t, f.backend, "place/k", time.Hour)}}); err != nil {
					t.Fatal(err)
				}
			}
			var value any
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { value = recover() }()
				_, _ = f.call(context.Background(), c.fn)
			}()
			<-done
			if value != c.value {
				t.Errorf("recovered %v, want %v", value, c.value)
			}
			f.wantSteps(t, c.steps...)
			if got, err := f.call(t.Context(), succeed); got != "done" || err != nil {
				t.Errorf("the next call: %q, %v", got, err)
			}
		})
	}
}

// A call in the caller's own transaction asks nobody in this process, and
// tells nobody.
func TestTxJoinedIsPrivate(t *testing.T) {
	f := newTxFixture(t, nil)
	theirs := context.WithValue(t.Context(), fakeTxKey{}, "theirs")
	leading, goOn := make(chan struct{}), make(chan struct{})
	led := make(chan error)
	go func() {
		_, err := f.call(context.Background(), func(context.Context) (string, error) {
			close(leading)
			<-goOn
			return "", errDown
		})
		led <- err
	}()
	<-leading
	// With the fake's lock it would wait in the database; here it is told so.
	if _, err := f.call(theirs, succeed); !errors.Is(err, idem.ErrInProgress) {
		t.Error(err)
	}
	close(goOn)
	if err := <-led; !errors.Is(err, errDown) {
		t.Error(err)
	}
	if got, err := f.call(theirs, succeed); got != "done" || err != nil {
		t.Error(got, err)
	}
	if got, err := f.call(theirs, succeed); got != "done" || err != nil { // a replay
		t.Error(got, err)
	}
	// The caller rolls back.
	if err := f.store.Forget(t.Context(), "place/k"); err != nil {
		t.Fatal(err)
	}
	ran := false
	if _, err := f.call(t.Context(), func(context.Context) (string, error) { ran = true; return "", nil }); err != nil || !ran {
		t.Errorf("ran: %v, %v", ran, err)
	}
}

// The transaction holds the claim for as long as it lasts, and needs no sign
// of life.
func TestTxNeedsNoHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTxFixture(t, func(o *idem.MethodOptions[string]) { o.TTL = time.Second })
		defer f.store.Close(context.Background())
		if _, err := f.call(t.Context(), func(ctx context.Context) (string, error) {
			time.Sleep(time.Hour)
			return "done", ctx.Err()
		}); err != nil {
			t.Error(err)
		}
		if n := f.count("extend"); n > 0 {
			t.Errorf("the lease was renewed %d times", n)
		}
	})
}

func TestTxEndsWithTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTxFixture(t, nil)
		done := make(chan error)
		go func() {
			_, err := f.call(context.Background(), func(ctx context.Context) (string, error) {
				<-ctx.Done()
				return "", context.Cause(ctx)
			})
			done <- err
		}()
		synctest.Wait()
		closing, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := f.store.Close(closing); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, idem.ErrClosed) {
			t.Error(err)
		}
	})
}

// A caller who leaves while the claim is under way does not get it.
func TestTxLateClaimIsUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newTxFixture(t, nil)
		defer f.store.Close(context.Background())
		goOn := make(chan struct{})
		f.set(func(h *hooked) {
			h.claim = func(ctx context.Context, r idem.ClaimRequest) (idem.ClaimResult, error) {
				<-goOn
				return h.backend.Claim(ctx, r)
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := f.call(ctx, succeed)
			done <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(goOn)
		synctest.Wait()
		f.wantSteps(t, "begin", "claim", "rollback")
		if got, err := f.call(t.Context(), succeed); got != "done" || err != nil {
			t.Error(got, err)
		}
	})
}

// A call without a key has a transaction nonetheless, which its method needs.
func TestTxOfAnOptionalKey(t *testing.T) {
	for name, c := range map[string]struct {
		fails map[string][]error
		fn    func(context.Context) (string, error)
		want  error
		steps []string
	}{
		"success": {steps: []string{"begin", "commit"}},
		"begin":   {fails: map[string][]error{"begin": {errDown}}, want: errDown, steps: []string{"begin"}},
		"commit":  {fails: map[string][]error{"commit": {errGaveUp}}, want: idem.ErrSerialization, steps: []string{"begin", "commit", "rollback"}},
		"method": {
			fn:   func(context.Context) (string, error) { return "", errGaveUp },
			want: idem.ErrSerialization, steps: []string{"begin", "rollback"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newTxFixture(t, func(o *idem.MethodOptions[string]) { o.Optional = true })
			f.fails = c.fails
			fn := c.fn
			if fn == nil {
				fn = func(ctx context.Context) (string, error) {
					if !f.Inside(ctx) {
						t.Error("the method has no transaction")
					}
					return "done", nil
				}
			}
			var key idem.KeyBuilder
			key.String("")
			got, err := f.method.Run(t.Context(), &key, nil, fn)
			if !errors.Is(err, c.want) || (err == nil) != (got == "done") {
				t.Errorf("%q, %v; want %v", got, err, c.want)
			}
			f.wantSteps(t, c.steps...)
		})
	}
}

func TestDoInATransaction(t *testing.T) {
	b := newTransacting()
	call := idem.Call{Operation: "place", Key: "k", Tx: true}
	got, err := idem.Do(t.Context(), idem.New(b), call, succeed)
	if got != "done" || err != nil {
		t.Error(got, err)
	}
	b.wantSteps(t, "begin", "claim", "complete", "commit")
	if _, err := idem.Do(t.Context(), idem.New(newHooked()), call, succeed); err == nil || !strings.Contains(err.Error(), "cannot keep a record in a transaction") {
		t.Error(err)
	}
}

func TestTxNeedsATransactor(t *testing.T) {
	unable := newTransacting()
	unable.unable = errDown
	for want, backend := range map[string]idem.Backend{
		"cannot keep a record in a transaction": newHooked(),
		errDown.Error():                         unable,
	} {
		func() {
			defer func() {
				if message, _ := recover().(string); !strings.Contains(message, want) {
					t.Errorf("%q, want %q in it", message, want)
				}
			}()
			idem.NewMethod(idem.New(backend), idem.MethodOptions[string]{Operation: "place", Tx: true})
		}()
	}
}
