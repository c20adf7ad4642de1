// Package postgres keeps the records of an idem.Store in a table of
// PostgreSQL 14 or later.
//
//	pool, err := pgxpool.New(ctx, dsn)
//	...
//	if err := postgres.Migrate(ctx, pool); err != nil {
//		...
//	}
//	store := idem.New(postgres.New(pool))
//
// # The table
//
// There is one row a key. Its column state says which of these it is, and any
// other state is an error:
//
//	pending    claimed; the lease ends at lease_until, and heartbeats renew it
//	completed  the outcome is in result, until expires_at
//	released   as if absent; a sweep deletes the row a minute later
//
// The database is the only authority. A claim, a completion, a release and an
// extension are each one statement, which reads the row and the clock of the
// database, and writes only if the row is still as it was read. A holder that
// was taken over has a fence that is no row's any more, and so changes nothing.
// Fences come from a sequence without a cache.
//
// A replay reads one row, takes no lock and writes nothing. A first execution
// takes two round trips, and everything else one. Requests of concurrent
// callers travel together: a request that finds a trip free leaves at once, and
// those that come while all trips are under way share the next. A request that
// the server refuses is sent again by itself, so that it fails alone.
//
// A statement waits for a locked row for a second at most, and a round trip
// takes ten at most (WithTimeout). A caller whose context ends leaves at once,
// while its statement runs to its end, because a connection that is interrupted
// in the middle of one is lost.
//
// # Connections
//
// New takes a *pgxpool.Pool, a single *pgx.Conn or, by package sqldb, a *sql.DB
// with any driver. All of pgx's exec modes work, and so does a pooler that gives
// each transaction another connection, such as pgbouncer, with
// pgx.QueryExecModeExec or pgx.QueryExecModeSimpleProtocol.
//
// Who waits for another process is notified (LISTEN and NOTIFY) where a
// connection can listen, which is tried when somebody first waits; elsewhere he
// polls. A completion notifies only if somebody waits for that key.
//
// # In one transaction
//
// A method with the directive //idem:tx runs in a transaction in which its key
// is claimed and its result recorded. It takes that from its context:
//
//	tx, ok := postgres.TxFrom(ctx)
//
// The backend begins the transaction, at the isolation level that WithIsolation
// names, and needs a *pgxpool.Pool or a *sql.DB for it. A call keeps its
// connection until the commit. It takes four round trips beside the method's
// own, one more if the method has final errors, and a replay takes three.
//
// With WithTx a call becomes a part of a transaction of the caller's own, which
// can be on any connection to the database of the table.
//
// Whoever calls with the same key meanwhile waits for a lock, for a second at a
// time, each on a connection of the pool. A method that holds its transaction
// open for long holds them up.
//
// # Being a guest
//
// Migrate needs a role that may create tables. The service itself needs a role
// that may use them, and no more:
//
//	GRANT SELECT, INSERT, UPDATE, DELETE ON idem_records TO service;
//	GRANT USAGE ON SEQUENCE idem_records_fence TO service;
//
// The schema is also there as files that migration tools run: see Migrations.
// golang-migrate and atlas read the folder migrations, goose migrations/goose:
//
//	fsys, err := fs.Sub(postgres.Migrations, "migrations")
//	source, err := iofs.New(fsys, ".") // golang-migrate
//
// They use the default names. WithSchema and WithTable, which Migrate follows,
// are for those who let it make the table.
package postgres
