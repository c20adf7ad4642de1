package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/examples/orders/orders"
	"github.com/idemgen/idem/internal/pgtest"
	"github.com/idemgen/idem/runtime/postgres"
)

// A database is an empty schema with the tables of the service and of the
// store.
type database struct {
	description string
	url         string // leads into the schema
	pool        *pgxpool.Pool
	close       func() error
}

// openDatabase makes a schema in the database that dsn names or, if that is
// empty, in a server that it starts.
func openDatabase(ctx context.Context, dsn string) (_ *database, err error) {
	var undo []func() error
	closeAll := func() error {
		var errs []error
		for _, f := range slices.Backward(undo) {
			errs = append(errs, f())
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll())
		}
	}()

	schema := fmt.Sprintf("orders_example_%d_%d", os.Getpid(), time.Now().UnixNano())
	where := "in the schema " + schema + ", which is dropped at the end"
	if dsn == "" {
		server, err := pgtest.Start()
		if err != nil {
			return nil, fmt.Errorf("no PostgreSQL to start (-dsn names one that runs): %w", err)
		}
		undo = append(undo, server.Close)
		dsn, where = server.DSN(), "started for this in a temporary directory"
	}
	if err := execute(ctx, dsn, "CREATE SCHEMA "+schema); err != nil {
		return nil, err
	}
	if undo == nil { // a server that was started for this goes with all that is in it
		undo = append(undo, func() error {
			return execute(context.WithoutCancel(ctx), dsn, "DROP SCHEMA "+schema+" CASCADE")
		})
	}
	db := &database{url: inSchema(dsn, schema), close: closeAll}
	if db.pool, err = pgxpool.New(ctx, db.url); err != nil {
		return nil, err
	}
	undo = append(undo, func() error { db.pool.Close(); return nil })
	if err := orders.Migrate(ctx, db.pool); err != nil {
		return nil, err
	}
	if err := postgres.Migrate(ctx, db.pool); err != nil {
		return nil, err
	}
	var version string
	if err := db.pool.QueryRow(ctx, "SHOW server_version").Scan(&version); err != nil {
		return nil, err
	}
	version, _, _ = strings.Cut(version, " ")
	db.description = fmt.Sprintf("PostgreSQL %s, %s.", version, where)
	return db, nil
}

func execute(ctx context.Context, dsn, statement string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}

// inSchema adds a schema, whose name needs no quoting, to a connection string:
// a URL, or words such as host=localhost.
func inSchema(dsn, schema string) string {
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme == "" {
		return dsn + " search_path=" + schema
	}
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return u.String()
}
