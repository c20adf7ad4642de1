package postgres

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

// The transaction commits and its acknowledgement is lost with the connection:
// the call asks, and succeeds.
func TestFault14LostCommit(t *testing.T) {
	for _, m := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeSimpleProtocol} {
		t.Run(m.String(), func(t *testing.T) {
			proxy, dsn := pgtest.ProxyTo(t, pgtest.DSN(t))
			s := openShop(t, open(t, dsn, mode(m)))
			lost := proxy.LoseReply("commit")
			if got, err := s.place(t.Context(), "a", nil); got != "placed a" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
			<-lost
			s.placed("a", true)
		})
	}
}

// A lossy is a pool whose transactions end in one of the ways in which the
// client learns nothing of it.
type lossy struct {
	*pgxpool.Pool
	end func(ctx context.Context, tx pgx.Tx) error // in place of the next Commit
}

type lossyTx struct {
	pgx.Tx
	db *lossy
}

var errCut = io.ErrUnexpectedEOF

func (d *lossy) BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error) {
	tx, err := d.Pool.BeginTx(ctx, o)
	return lossyTx{tx, d}, err
}

func (t lossyTx) Commit(ctx context.Context) error {
	if end := t.db.end; end != nil {
		t.db.end = nil
		return end(ctx, t.Tx)
	}
	return t.Tx.Commit(ctx)
}

func openLossy(t *testing.T, opts ...Option) (*shop, *lossy) {
	f := open(t, pgtest.DSN(t))
	db := &lossy{Pool: f.db.(*pgxpool.Pool)}
	f.Backend = New(db, append(f.opts, opts...)...)
	t.Cleanup(f.Backend.Close)
	return openShop(t, f), db
}

// The request to commit is lost, and the database undoes the transaction.
func TestFault14CommitThatDidNotArrive(t *testing.T) {
	s, db := openLossy(t)
	db.end = func(ctx context.Context, tx pgx.Tx) error {
		return errors.Join(errCut, tx.Rollback(ctx))
	}
	got, err := s.place(t.Context(), "a", nil)
	var backend *idem.BackendError
	if got != "" || !errors.Is(err, errCut) || idem.IsUncertain(err) || !errors.As(err, &backend) || backend.Action != "commit" {
		t.Errorf("%q, %v; want the reason, for sure", got, err)
	}
	s.placed("a", false)
	if _, err := s.place(t.Context(), "a", nil); err != nil {
		t.Error(err)
	}
	s.placed("a", true)
}

// The connection is lost, and the server is about to commit still: the call
// waits for what comes of it.
func TestFault14CommitOnItsWay(t *testing.T) {
	s, db := openLossy(t)
	committed := make(chan error)
	db.end = func(_ context.Context, tx pgx.Tx) error {
		go func() {
			s.awaitLock()
			committed <- tx.Commit(context.Background())
		}()
		return errCut
	}
	if got, err := s.place(t.Context(), "a", nil); got != "placed a" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := <-committed; err != nil {
		t.Error(err)
	}
	s.placed("a", true)
}

// Nobody can say what becomes of the transaction for as long as the call may
// ask. The next one finds out.
func TestFault14UnknownOutcome(t *testing.T) {
	s, db := openLossy(t, WithTimeout(200*time.Millisecond))
	var stuck pgx.Tx
	db.end = func(_ context.Context, tx pgx.Tx) error {
		stuck = tx
		return errCut
	}
	ctx, outcome := idem.WithOutcome(t.Context())
	if _, err := s.place(ctx, "a", nil); !idem.IsUncertain(err) || !errors.Is(err, errCut) || outcome().Kind != idem.Uncertained {
		t.Errorf("%v, %v", outcome().Kind, err)
	}
	if err := stuck.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := s.place(ctx, "a", nil); got != "placed a" || err != nil || outcome().Kind != idem.Replayed {
		t.Errorf("%q, %v, %v", got, outcome().Kind, err)
	}
	s.placed("a", true)
}

// What the database refuses at the commit is undone, and the call says why.
func TestTxRefusedAtTheCommit(t *testing.T) {
	s := openShop(t, open(t, pgtest.DSN(t)))
	s.exec("ALTER TABLE " + s.effects() + " ADD CONSTRAINT late UNIQUE (item) DEFERRABLE INITIALLY DEFERRED")
	s.exec("ALTER TABLE " + s.effects() + " DROP CONSTRAINT one_of_each")
	s.exec("INSERT INTO " + s.effects() + " VALUES ('twice')")
	if _, err := s.place(t.Context(), "twice", nil); sqlState(err) != "23505" || idem.IsUncertain(err) {
		t.Error(err)
	}
	if _, found := s.lookup("place/twice"); found {
		t.Error("the record was kept")
	}
}

// The server ends the connection in the middle of the method.
func TestTxConnectionLost(t *testing.T) {
	s := openShop(t, open(t, pgtest.DSN(t)))
	_, err := s.place(t.Context(), "a", func(ctx context.Context, tx pgx.Tx) error {
		s.exec("SELECT pg_terminate_backend($1)", int(tx.Conn().PgConn().PID()))
		return nil // it does not notice
	})
	var backend *idem.BackendError
	if !errors.As(err, &backend) || backend.Action != "complete" {
		t.Errorf("%v, want a *BackendError of the completion", err)
	}
	s.placed("a", false)
	if _, err := s.place(t.Context(), "a", nil); err != nil {
		t.Error(err)
	}
	s.placed("a", true)
}

func TestTxServerDown(t *testing.T) {
	proxy, dsn := pgtest.ProxyTo(t, pgtest.DSN(t))
	s := openShop(t, open(t, dsn))
	proxy.Refuse(true)
	_, err := s.place(t.Context(), "a", nil)
	var backend *idem.BackendError
	if !errors.As(err, &backend) || backend.Action != "claim" {
		t.Errorf("%v, want a *BackendError of the claim", err)
	}
	proxy.Refuse(false)
	if _, err := s.place(t.Context(), "a", nil); err != nil {
		t.Error(err)
	}
}

// A wrapper on a backend that cannot do it fails when it is made.
func TestTxNeedsABackendThatCan(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), pgtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for want, backend := range map[string]idem.Backend{
		"*memory.Backend":     memory.New(),
		"a single connection": New(conn),
		"cannot begin":        New(struct{ DB }{conn}),
	} {
		func() {
			defer func() {
				if message, _ := recover().(string); !strings.Contains(message, "place: transactional mode") || !strings.Contains(message, want) {
					t.Errorf("%q, want %q in it", message, want)
				}
			}()
			idem.NewMethod(idem.New(backend), idem.MethodOptions[string]{Operation: "place", Tx: true})
		}()
	}
}
