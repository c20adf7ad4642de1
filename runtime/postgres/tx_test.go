package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
)

// A shop is a process with a method in transactional mode, whose effect is a
// row in a table of its own.
type shop struct {
	*fixture
	store  *idem.Store
	method *idem.Method[string]
}

var errSoldOut = errors.New("sold out")

func openShop(t *testing.T, f *fixture, options ...func(*idem.MethodOptions[string])) *shop {
	t.Helper()
	f.exec("CREATE TABLE IF NOT EXISTS " + f.effects() + " (item text NOT NULL, CONSTRAINT one_of_each UNIQUE (item))")
	o := idem.MethodOptions[string]{Operation: "place", Tx: true, Final: []idem.Final{idem.FinalError("sold out", errSoldOut)}}
	for _, change := range options {
		change(&o)
	}
	store := idem.New(f.Backend, idem.WithCache(0, 0))
	t.Cleanup(func() { _ = store.Close(context.Background()) })
	return &shop{fixture: f, store: store, method: idem.NewMethod(store, o)}
}

// another is a second process on the same tables.
func (s *shop) another(t *testing.T, options ...func(*idem.MethodOptions[string])) *shop {
	t.Helper()
	return openShop(t, attach(t, openPool(t, pgtest.DSN(t)), s.direct, s.opts), options...)
}

func (f *fixture) effects() string {
	return pgx.Identifier{f.names.schema, "effects"}.Sanitize()
}

// place calls the method; then, if it is not nil, runs in it after its effect.
func (s *shop) place(ctx context.Context, item string, then func(ctx context.Context, tx pgx.Tx) error) (string, error) {
	var key idem.KeyBuilder
	key.String(item)
	return s.method.Run(ctx, &key, nil, func(ctx context.Context) (string, error) {
		tx, ok := TxFrom(ctx)
		if !ok {
			return "", errors.New("the method has no transaction")
		}
		if _, err := tx.Exec(ctx, "INSERT INTO "+s.effects()+" VALUES ($1)", item); err != nil {
			return "", err
		}
		if then != nil {
			if err := then(ctx, tx); err != nil {
				return "", err
			}
		}
		return "placed " + item, nil
	})
}

// placed wants the effect and the record of an item both there, or neither.
func (s *shop) placed(item string, want bool) {
	s.t.Helper()
	n := s.number("SELECT count(*) FROM "+s.effects()+" WHERE item = $1", item)
	r, found := s.lookup("place/" + item)
	if (n == 1) != want || (found && r.State == idem.Completed) != want {
		s.t.Errorf("%s: %d effects, record %v %+v; want %v", item, n, found, r, want)
	}
}

var errFailed = errors.New("failed")

func fail(context.Context, pgx.Tx) error { return errFailed }

func TestTxCommitsAllOrNothing(t *testing.T) {
	for _, m := range modes {
		t.Run(m.String(), func(t *testing.T) {
			testTx(t, openShop(t, open(t, pgtest.DSN(t), mode(m))))
		})
	}
}

func TestTxThroughPgBouncer(t *testing.T) {
	testTx(t, openShop(t, open(t, pgtest.PgBouncer(t, pgtest.DSN(t)), mode(pgx.QueryExecModeExec))))
}

func testTx(t *testing.T, s *shop) {
	if _, err := s.place(t.Context(), "a", fail); !errors.Is(err, errFailed) {
		t.Fatal(err)
	}
	s.placed("a", false)
	for range 2 { // executed, replayed
		if got, err := s.place(t.Context(), "a", nil); got != "placed a" || err != nil {
			t.Fatal(got, err)
		}
		s.placed("a", true)
	}
	for range 2 {
		if _, err := s.place(t.Context(), "b", func(ctx context.Context, tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "INSERT INTO "+s.effects()+" VALUES ('a')"); sqlState(err) != "23505" {
				t.Error("not a duplicate:", err)
			}
			return errSoldOut
		}); !errors.Is(err, errSoldOut) {
			t.Fatal(err)
		}
	}
	if n := s.number("SELECT count(*) FROM " + s.effects() + " WHERE item = 'b'"); n != 0 {
		t.Error("the effect of a final error was kept")
	}
	if r, found := s.lookup("place/b"); !found || r.State != idem.Completed {
		t.Errorf("the final error was not recorded: %+v", r)
	}
	// A statement failed, and the method does not say so.
	if _, err := s.place(t.Context(), "c", func(ctx context.Context, tx pgx.Tx) error {
		_, _ = tx.Exec(ctx, "SELECT nonsense")
		return nil
	}); err == nil {
		t.Error("a result was recorded in an aborted transaction")
	}
	s.placed("c", false)
	testJoined(t, s)
}

// testJoined calls the method in a transaction of the test's own.
func testJoined(t *testing.T, s *shop) {
	begin := func() (pgx.Tx, context.Context) {
		tx, err := s.direct.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return tx, WithTx(t.Context(), tx)
	}
	tx, ctx := begin()
	if _, err := tx.Exec(ctx, "INSERT INTO "+s.effects()+" VALUES ('mine')"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := s.place(ctx, "d", nil); got != "placed d" || err != nil {
			t.Fatal(got, err)
		}
	}
	s.placed("d", false)
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.placed("d", false)

	tx, ctx = begin()
	if _, err := tx.Exec(ctx, "INSERT INTO "+s.effects()+" VALUES ('mine')"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.place(ctx, "d", nil); got != "placed d" || err != nil {
		t.Fatal(got, err)
	}
	if _, err := s.place(ctx, "e", func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SELECT nonsense")
		return err
	}); sqlState(err) != "42703" {
		t.Errorf("got %v, want the error of the statement", err)
	}
	if _, err := s.place(ctx, "f", func(context.Context, pgx.Tx) error { return errSoldOut }); !errors.Is(err, errSoldOut) {
		t.Error(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.placed("d", true)
	s.placed("e", false)
	if n := s.number("SELECT count(*) FROM " + s.effects() + " WHERE item = 'mine'"); n != 1 {
		t.Error("what the caller had done before is lost")
	}
	if r, found := s.lookup("place/f"); !found || r.State != idem.Completed {
		t.Errorf("the final error was not recorded: %+v", r)
	}
}

// Statements of the method have the lock timeout that they would have had, and
// so have the caller's own.
func TestTxLeavesTheLockTimeout(t *testing.T) {
	s := openShop(t, open(t, pgtest.DSN(t)))
	timeout := func(ctx context.Context, tx pgx.Tx) error {
		var got string
		if err := tx.QueryRow(ctx, "SHOW lock_timeout").Scan(&got); err != nil {
			return err
		}
		if got != "12345ms" {
			t.Error("lock_timeout =", got)
		}
		return nil
	}
	one, err := pgx.Connect(t.Context(), pgtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close(context.Background())
	if _, err := one.Exec(t.Context(), "SET lock_timeout = 12345"); err != nil {
		t.Fatal(err)
	}
	tx, err := one.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.place(WithTx(t.Context(), tx), "a", timeout); err != nil {
		t.Fatal(err)
	}
	if err := timeout(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Inserted, and taken over.
	patient := func(c *pgxpool.Config) { c.ConnConfig.RuntimeParams["lock_timeout"] = "12345" }
	own := openShop(t, attach(t, openPool(t, pgtest.DSN(t), patient), s.direct, s.opts))
	if _, err := own.place(t.Context(), "b", timeout); err != nil {
		t.Fatal(err)
	}
	own.win("place/c")
	own.pass(2 * time.Minute)
	if _, err := own.place(t.Context(), "c", timeout); err != nil {
		t.Fatal(err)
	}
}

func TestTxMethodMustNotEndTheTransaction(t *testing.T) {
	s := openShop(t, open(t, pgtest.DSN(t)))
	if _, err := s.place(t.Context(), "a", func(ctx context.Context, tx pgx.Tx) error {
		return errors.Join(tx.Commit(ctx), tx.Rollback(ctx))
	}); !errors.Is(err, errNotYours) {
		t.Error(err)
	}
	s.placed("a", false)
	if _, ok := TxFrom(t.Context()); ok {
		t.Error("there is a transaction outside of a method")
	}
}
