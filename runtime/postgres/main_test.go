package postgres

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

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

// migrated makes a table in a schema of its own and returns the options that
// name it.
func migrated(t testing.TB) []Option {
	t.Helper()
	opts := []Option{WithSchema(pgtest.Schema(t))}
	if err := Migrate(t.Context(), openPool(t, pgtest.DSN(t)), opts...); err != nil {
		t.Fatal(err)
	}
	return opts
}

// open returns a backend on a table of its own.
func open(t testing.TB) *fixture {
	t.Helper()
	return attach(t, pgtest.DSN(t), migrated(t))
}

// attach returns a backend on a table that others may use, too.
func attach(t testing.TB, dsn string, opts []Option, configure ...func(*pgxpool.Config)) *fixture {
	t.Helper()
	pool := openPool(t, dsn, configure...)
	b := New(pool, opts...)
	t.Cleanup(b.Close)
	return &fixture{Backend: b, t: t, pool: pool, opts: opts, names: newOptions(opts).names}
}
