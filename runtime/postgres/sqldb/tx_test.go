package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

var errFailed = errors.New("failed")

func TestTransactionalMode(t *testing.T) {
	for _, level := range []pgx.TxIsoLevel{"", pgx.Serializable} {
		t.Run(string(level), func(t *testing.T) { testTransactionalMode(t, level) })
	}
}

func testTransactionalMode(t *testing.T, level pgx.TxIsoLevel) {
	ctx := t.Context()
	server := openServer(t)
	effects := server.table("effects")
	if _, err := server.pool.Exec(ctx, "CREATE TABLE "+effects+" (item text)"); err != nil {
		t.Fatal(err)
	}
	count := func(want int) {
		t.Helper()
		var n int
		if err := server.pool.QueryRow(ctx, "SELECT count(*) FROM "+effects).Scan(&n); err != nil || n != want {
			t.Errorf("%d effects, %v; want %d", n, err, want)
		}
	}

	db := open(t).querier.(*sql.DB)
	db.SetMaxOpenConns(1) // so that a connection that is not given back is missed
	store := idem.New(server.backend(t, New(db), postgres.WithIsolation(level)), idem.WithCache(0, 0))
	defer store.Close(context.Background())
	method := idem.NewMethod(store, idem.MethodOptions[string]{Operation: "place", Tx: true})
	place := func(ctx context.Context, item string, err error) (string, error) {
		var key idem.KeyBuilder
		key.String(item)
		return method.Run(ctx, &key, nil, func(ctx context.Context) (string, error) {
			tx, ok := TxFrom(ctx)
			if !ok {
				return "", errors.New("the method has no transaction")
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO "+effects+" VALUES ($1)", item); err != nil {
				return "", err
			}
			return "placed " + item, err
		})
	}
	for range 2 {
		if _, err := place(ctx, "a", errFailed); !errors.Is(err, errFailed) {
			t.Fatal(err)
		}
		count(0)
	}
	for range 3 {
		if got, err := place(ctx, "a", nil); got != "placed a" || err != nil {
			t.Fatal(got, err)
		}
		count(1)
	}
	for n, end := range []func(*sql.Tx) error{(*sql.Tx).Rollback, (*sql.Tx).Commit} {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := place(WithTx(ctx, tx), "b", errFailed); !errors.Is(err, errFailed) {
			t.Fatal(err)
		}
		for range 2 {
			if got, err := place(WithTx(ctx, tx), "b", nil); got != "placed b" || err != nil {
				t.Fatal(got, err)
			}
		}
		count(1)
		if err := end(tx); err != nil {
			t.Fatal(err)
		}
		count(1 + n)
	}
	if _, ok := TxFrom(ctx); ok {
		t.Error("there is a transaction outside of a method")
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := place(cancelled, "c", nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestNothingBegins(t *testing.T) {
	db := open(t)
	conn, err := db.querier.(*sql.DB).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := New(conn).Beginning(""); err == nil {
		t.Error("a single connection begins transactions")
	}
	if _, err := db.Beginning("chaos"); err == nil {
		t.Error("there is an isolation level chaos")
	}
	begin, err := db.Beginning("")
	if err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := begin(cancelled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
