package postgres

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/idemtest"
)

// conform runs the conformance suite, moving the rows where time must pass.
func conform(t *testing.T, open func(t testing.TB) *fixture) {
	t.Helper()
	idemtest.Run(t, idemtest.Config{
		Open: func(t testing.TB) idem.Backend { return open(t) },
		Advance: func(b idem.Backend, d time.Duration) error {
			b.(*fixture).pass(d)
			return nil
		},
	})
}

func mode(m pgx.QueryExecMode) func(*pgxpool.Config) {
	return func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = m }
}

var modes = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement,
	pgx.QueryExecModeCacheDescribe,
	pgx.QueryExecModeDescribeExec,
	pgx.QueryExecModeExec,
	pgx.QueryExecModeSimpleProtocol,
}

// hasty commits without waiting for the disk, which the suite does by the
// thousand and whose speed is no part of it.
func hasty(c *pgxpool.Config) { c.ConnConfig.RuntimeParams["synchronous_commit"] = "off" }

func TestConformance(t *testing.T) {
	for _, m := range modes {
		t.Run(m.String(), func(t *testing.T) {
			conform(t, func(t testing.TB) *fixture { return open(t, pgtest.DSN(t), mode(m), hasty) })
		})
	}
}

// Fault 24: behind a pooler that gives each transaction another connection.
func TestConformanceThroughPgBouncer(t *testing.T) {
	dsn := pgtest.PgBouncer(t, pgtest.DSN(t))
	for _, m := range []pgx.QueryExecMode{pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		t.Run(m.String(), func(t *testing.T) {
			conform(t, func(t testing.TB) *fixture { return open(t, dsn, mode(m)) })
		})
	}
}

func TestConformanceOnOneConnection(t *testing.T) {
	conform(t, func(t testing.TB) *fixture {
		conn, err := pgx.Connect(t.Context(), pgtest.DSN(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(t.Context()) })
		return openOn(t, conn)
	})
}
