package postgres

import (
	"context"
	"reflect"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idem/runtime"
)

// A DB runs statements. *pgxpool.Pool, *pgx.Conn and pgx.Tx are such; the
// package sqldb makes one of a *sql.DB.
type DB interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Backend keeps records in a table of PostgreSQL. It implements idem.Backend
// and idem.Notifier. A Backend must be made with New.
type Backend struct {
	db        DB
	sql       statements
	timeout   time.Duration
	claims    lane[idem.ClaimRequest, idem.ClaimResult]
	completes lane[idem.Completion, bool]
	releases  lane[releaseRequest, bool]
	lookups   lane[string, lookupResult]
	listener  *listener

	begin       func(context.Context) (Tx, error)
	cannotBegin error // why begin is nil
	comparable  bool  // db can be compared by ==
}

var (
	_ idem.Backend  = (*Backend)(nil)
	_ idem.Notifier = (*Backend)(nil)
)

// New returns a backend on the table that Migrate has made with the same
// options. It opens no connection. Use a *pgxpool.Pool in a service: on a
// single connection requests go one after the other, and waiters poll.
//
// While there are few requests at a time, a backend takes up to eight
// connections of the pool for claims and as many for completions, but not more
// than half of the pool for either; a crowd shares two for each. One connection
// outside of the pool is open while somebody waits for another process.
func New(db DB, opts ...Option) *Backend {
	o := newOptions(opts)
	trips := manyTrips
	switch c := db.(type) {
	case *pgx.Conn, pgx.Tx:
		db, trips = &serial{db: db}, 1
	case *pgxpool.Pool:
		trips = max(1, min(trips, int(c.Config().MaxConns)/2))
	}
	b := &Backend{db: db, sql: newStatements(o.names), timeout: o.timeout}
	b.claims = newLane(trips, o.timeout, b.sendClaims)
	b.completes = newLane(trips, o.timeout, b.sendCompletions)
	b.completes.weight = func(c idem.Completion) int { return len(c.Result) }
	b.releases = newLane(1, o.timeout, b.sendReleases)
	b.lookups = newLane(trips, o.timeout, b.sendLookups)
	b.begin, b.cannotBegin = beginning(db, o.isolation)
	b.comparable = reflect.TypeOf(db).Comparable()
	pool, _ := db.(*pgxpool.Pool)
	b.listener = newListener(pool, o.names.channel())
	return b
}

// Close ends the connection on which the backend listens for others, if it has
// one. Whoever waits polls from then on. It does not close the pool.
func (b *Backend) Close() {
	b.listener.close()
}

// Watch implements idem.Notifier. The channel is nil where no connection can
// listen: on a single connection, on database/sql, and behind a pooler that
// shares connections between transactions.
func (b *Backend) Watch(key string) (changed <-chan struct{}, stop func()) {
	return b.listener.watch(storedKey(key))
}
