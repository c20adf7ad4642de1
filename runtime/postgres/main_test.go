package postgres

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/internal/pgtest"
)

// childEnv makes the test binary a process that holds a claim: see
// TestFault21KilledHolder.
const childEnv = "IDEM_TEST_HOLDER_SCHEMA"

func TestMain(m *testing.M) {
	if schema := os.Getenv(childEnv); schema != "" {
		holdForEver(schema)
	}
	pgtest.Main(m)
}

// openPool returns a pool of connections to dsn.
func openPool(t testing.TB, dsn string, configure ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range configure {
		f(config)
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// open returns a backend on a table of its own, in the server that the tests
// share. Its connections are opened with dsn, which leads there, too.
func open(t testing.TB, dsn string, configure ...func(*pgxpool.Config)) *fixture {
	t.Helper()
	return openOn(t, openPool(t, dsn, configure...))
}

// openOn is open with connections that are there already.
func openOn(t testing.TB, db DB) *fixture {
	t.Helper()
	direct := openPool(t, pgtest.DSN(t))
	opts := []Option{WithSchema(pgtest.Schema(t))}
	if err := Migrate(t.Context(), direct, opts...); err != nil {
		t.Fatal(err)
	}
	return attach(t, db, direct, opts)
}

// attach returns a backend on a table that others use, too.
func attach(t testing.TB, db DB, direct *pgxpool.Pool, opts []Option) *fixture {
	t.Helper()
	b := New(db, opts...)
	t.Cleanup(b.Close)
	return &fixture{Backend: b, t: t, direct: direct, opts: opts, names: newOptions(opts).names}
}
