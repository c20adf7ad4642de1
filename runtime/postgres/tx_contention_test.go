package postgres

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
)

// A placing is a call of place that was let in and waits to be let go on.
type placing struct {
	inside chan struct{} // closed when the method runs
	goOn   chan error    // what the method then returns
	done   chan struct{}
	result string
	err    error
	fence  idem.Fence
}

func (s *shop) begin(ctx context.Context, item string) *placing {
	p := &placing{inside: make(chan struct{}), goOn: make(chan error), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.result, p.err = s.place(ctx, item, func(ctx context.Context, _ pgx.Tx) error {
			x, _ := idem.ExecutionFrom(ctx)
			p.fence = x.Fence
			close(p.inside)
			return <-p.goOn
		})
	}()
	return p
}

// end lets the method return err.
func (p *placing) end(err error) {
	p.goOn <- err
	<-p.done
}

// A second process waits for the transaction of the first, and then sees its
// result, or runs itself under a later fence.
func TestTxWaitsForAnotherProcess(t *testing.T) {
	first := openShop(t, open(t, pgtest.DSN(t)))
	second := first.another(t)

	holder := first.begin(t.Context(), "a")
	<-holder.inside
	waiter := second.begin(t.Context(), "a")
	first.awaitLock()
	holder.end(nil)
	<-waiter.done // without having run
	if waiter.result != "placed a" || waiter.err != nil {
		t.Errorf("%q, %v", waiter.result, waiter.err)
	}

	holder = first.begin(t.Context(), "b")
	<-holder.inside
	waiter = second.begin(t.Context(), "b")
	first.awaitLock()
	drawn := idem.Fence(first.number("SELECT nextval('idem_records_fence')"))
	holder.end(errFailed)
	<-waiter.inside
	waiter.end(nil)
	if waiter.err != nil || waiter.fence <= drawn {
		t.Errorf("fence %d, %v; want one above %d, which was drawn while it waited", waiter.fence, waiter.err, drawn)
	}
	first.placed("b", true)
	if r, _ := first.lookup("place/b"); r.Fence != waiter.fence {
		t.Errorf("the record has the fence %d, and the execution had %d", r.Fence, waiter.fence)
	}
}

// Who does not wait is told so, within the time that it takes to be sure.
func TestTxRejects(t *testing.T) {
	first := openShop(t, open(t, pgtest.DSN(t)))
	holder := first.begin(t.Context(), "a")
	<-holder.inside
	for name, change := range map[string]func(*idem.MethodOptions[string]){
		"reject":  func(o *idem.MethodOptions[string]) { o.Reject = true },
		"maxwait": func(o *idem.MethodOptions[string]) { o.MaxWait = 50 * time.Millisecond },
	} {
		if _, err := first.another(t, change).place(t.Context(), "a", nil); !errors.Is(err, idem.ErrInProgress) {
			t.Errorf("%s: %v", name, err)
		}
	}
	holder.end(nil)
}

// A caller who leaves while another transaction holds the key costs nothing.
func TestTxCancelledWaiters(t *testing.T) {
	first := openShop(t, open(t, pgtest.DSN(t)))
	second := first.another(t)
	holder := first.begin(t.Context(), "a")
	<-holder.inside
	ctx, cancel := context.WithCancel(t.Context())
	waiter := second.begin(ctx, "a")
	first.awaitLock()
	cancel()
	<-waiter.done
	if !errors.Is(waiter.err, context.Canceled) {
		t.Error(waiter.err)
	}
	holder.end(errFailed)
	if err := second.store.Close(t.Context()); err != nil { // when the claim that nobody wants is undone
		t.Error(err)
	}
	first.placed("a", false)
	if _, err := first.place(t.Context(), "a", nil); err != nil {
		t.Error(err)
	}
}

// What is done in the caller's own transaction is known to nobody before the
// caller commits, in this process neither.
func TestTxPublishesNothingBeforeTheCommit(t *testing.T) {
	s := openShop(t, open(t, pgtest.DSN(t)))
	store := idem.New(s.Backend) // with its cache
	defer store.Close(context.Background())
	s.method = idem.NewMethod(store, idem.MethodOptions[string]{Operation: "place", Tx: true})
	for _, commit := range []bool{false, true} {
		tx, err := s.direct.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // executed, replayed
			if _, err := s.place(WithTx(t.Context(), tx), "a", nil); err != nil {
				t.Fatal(err)
			}
		}
		var others sync.WaitGroup
		others.Go(func() {
			ctx, outcome := idem.WithOutcome(context.Background())
			_, err := s.place(ctx, "a", func(context.Context, pgx.Tx) error { return errFailed })
			switch {
			case commit && (err != nil || outcome().Kind != idem.Replayed):
				t.Errorf("after the commit: %v, %v", outcome().Kind, err)
			case !commit && !errors.Is(err, errFailed):
				t.Errorf("after the rollback: %v, %v", outcome().Kind, err)
			}
		})
		s.awaitLock()
		if commit {
			err = tx.Commit(t.Context())
		} else {
			err = tx.Rollback(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		others.Wait()
		s.placed("a", commit)
	}
}

// A method in transactional mode that another one calls is a part of its
// transaction, and can fail by itself.
func TestTxNests(t *testing.T) {
	s := openShop(t, open(t, pgtest.DSN(t)))
	order := func(then error) error {
		_, err := s.place(t.Context(), "outer", func(ctx context.Context, tx pgx.Tx) error {
			if _, err := s.place(ctx, "inner", nil); err != nil {
				return err
			}
			if _, err := s.place(ctx, "failed", fail); !errors.Is(err, errFailed) {
				t.Error(err)
			}
			if _, err := s.place(ctx, "outer", nil); !errors.Is(err, idem.ErrReentrant) {
				t.Error(err)
			}
			return then
		})
		return err
	}
	if err := order(errFailed); !errors.Is(err, errFailed) {
		t.Fatal(err)
	}
	s.placed("outer", false)
	s.placed("inner", false)
	if err := order(nil); err != nil {
		t.Fatal(err)
	}
	s.placed("outer", true)
	s.placed("inner", true)
	s.placed("failed", false)
}

// Another backend on the same database takes part in the transaction; one on
// another database begins its own.
func TestTxIsJoinedOnItsDatabaseOnly(t *testing.T) {
	s := openShop(t, open(t, pgtest.DSN(t)))
	sibling := New(s.db, s.opts...)
	defer sibling.Close()
	stranger := openShop(t, open(t, pgtest.DSN(t)))
	_, err := s.place(t.Context(), "a", func(ctx context.Context, _ pgx.Tx) error {
		if !s.Inside(ctx) || !sibling.Inside(ctx) || stranger.Inside(ctx) {
			t.Error("inside:", s.Inside(ctx), sibling.Inside(ctx), stranger.Inside(ctx))
		}
		if _, err := stranger.place(ctx, "b", nil); err != nil {
			t.Error(err)
		}
		stranger.placed("b", true)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func retryable(t *testing.T, err error, state string) {
	t.Helper()
	if !errors.Is(err, idem.ErrSerialization) || sqlState(err) != state || idem.Advise(err) != idem.RetrySameKey {
		t.Errorf("%v (%v), want %s as an error to retry after", err, idem.Advise(err), state)
	}
}

// Two methods read what the other one writes. Which of them the database gives
// up, and whether at a statement or at the commit, is its own affair.
func TestTxSerializationFailure(t *testing.T) {
	f := open(t, pgtest.DSN(t))
	f.Backend = New(f.db, append(f.opts, WithIsolation(pgx.Serializable))...)
	t.Cleanup(f.Backend.Close)
	s := openShop(t, f)
	var read sync.WaitGroup
	read.Add(2)
	skew := func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SELECT count(*) FROM "+s.effects())
		read.Done()
		read.Wait()
		return err
	}
	errs := make(chan error)
	for _, item := range []string{"a", "b"} {
		go func() {
			_, err := s.place(context.Background(), item, skew)
			errs <- err
		}()
	}
	failed := 0
	for range 2 {
		if err := <-errs; err != nil {
			failed++
			retryable(t, err, serializationFailure)
		}
	}
	if failed != 1 {
		t.Errorf("%d calls failed, want one", failed)
	}
	read.Add(2)
	read.Done() // alone this time
	for _, item := range []string{"a", "b"} {
		if _, err := s.place(t.Context(), item, nil); err != nil {
			t.Error(err)
		}
		s.placed(item, true)
	}
	read.Done()
}

// Two callers' own transactions, each of which wants the key of the other.
func TestTxDeadlock(t *testing.T) {
	s := openShop(t, open(t, pgtest.DSN(t)))
	begin := func(item string) (pgx.Tx, context.Context) {
		tx, err := s.direct.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx := WithTx(context.Background(), tx)
		if _, err := s.place(ctx, item, nil); err != nil {
			t.Fatal(err)
		}
		return tx, ctx
	}
	txA, ctxA := begin("a")
	txB, ctxB := begin("b")
	type answer struct {
		tx  pgx.Tx
		err error
	}
	answers := make(chan answer)
	for tx, call := range map[pgx.Tx]func() (string, error){
		txA: func() (string, error) { return s.place(ctxA, "b", nil) },
		txB: func() (string, error) { return s.place(ctxB, "a", nil) },
	} {
		go func() {
			_, err := call()
			answers <- answer{tx, err}
		}()
	}
	victim := <-answers
	retryable(t, victim.err, deadlockDetected)
	if err := victim.tx.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
	winner := <-answers
	if winner.err != nil {
		t.Error(winner.err)
	}
	if err := winner.tx.Commit(t.Context()); err != nil {
		t.Error(err)
	}
	s.placed("a", true)
	s.placed("b", true)
}
