// Command postgres measures the PostgreSQL backend beside the statements that
// teams write by hand and beside pgbench, on one server in one run, and prints
// the ratios. Machines are noisy: only the ratios count.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("postgres", flag.ContinueOnError)
	flags.SetOutput(stderr)
	rounds := flags.Int("rounds", 5, "runs of each contender, whose median counts")
	each := flags.Duration("time", 2*time.Second, "length of a run")
	plotFile := flags.String("plot", "", "write a plot of throughput by callers to this SVG file")
	callers := flags.Int("callers", 0, "measure this number of concurrent callers alone; 0: 1, 8, 32 and 128")
	executions := flags.Int("upkeep", 0, "measure what so many executions cost in the long run, in place of the ratios")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	crowds := allCrowds
	if *callers > 0 {
		crowds = []int{*callers}
	}
	err := onServer(func(b *bench) error {
		if *executions > 0 {
			return b.upkeep(stdout, *executions)
		}
		r, err := b.measure(crowds, *rounds, *each)
		if err != nil {
			return err
		}
		r.print(stdout)
		if *plotFile == "" {
			return nil
		}
		return r.plot(*plotFile)
	})
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// onServer runs f on the server that the environment names, or on one of its
// own.
func onServer(f func(*bench) error) error {
	dsn := os.Getenv(pgtest.EnvDSN)
	if dsn == "" {
		server, err := pgtest.Start()
		if err != nil {
			return err
		}
		defer server.Close()
		dsn = server.DSN()
	}
	b := &bench{dsn: dsn, table: "idem_bench", result: bytes.Repeat([]byte("a"), 450)}
	if err := b.prepare(context.Background()); err != nil {
		return err
	}
	defer b.admin.Close()
	return f(b)
}

// prepare makes the tables, with records to replay.
func (b *bench) prepare(ctx context.Context) error {
	var err error
	if b.admin, err = pgxpool.New(ctx, b.dsn); err != nil {
		return err
	}
	for _, statement := range []string{
		`DROP TABLE IF EXISTS by_hand, idem_bench, idem_bench_schema`,
		`DROP SEQUENCE IF EXISTS idem_bench_fence`,
		`CREATE TABLE by_hand (
			key text PRIMARY KEY, state text NOT NULL, result bytea,
			claimed_at timestamptz NOT NULL, expires_at timestamptz NOT NULL)`,
		`CREATE INDEX ON by_hand (expires_at)`,
	} {
		if _, err := b.admin.Exec(ctx, statement); err != nil {
			return err
		}
	}
	if err := postgres.Migrate(ctx, b.admin, b.options()...); err != nil {
		return err
	}
	backend := postgres.New(b.admin, b.options()...)
	defer backend.Close()
	for i := range replayKeys {
		key := b.key("replayed", 0, i)
		got, err := backend.Claim(ctx, request(key))
		if err != nil {
			return err
		}
		if _, err := backend.Complete(ctx, idem.Completion{Key: key, Fence: got.Record.Fence, Result: b.result, TTL: ttl}); err != nil {
			return err
		}
	}
	_, err = b.admin.Exec(ctx, `VACUUM ANALYZE idem_bench`)
	return err
}
