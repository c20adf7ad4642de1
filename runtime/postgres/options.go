package postgres

import (
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// defaultTimeout bounds a round trip.
const defaultTimeout = 10 * time.Second

// lockTimeoutMillis is how long a statement waits for a row that another
// transaction has locked, in milliseconds.
const lockTimeoutMillis = "1000"

// An Option changes what New or Migrate do by default. Give both the same.
type Option func(*options)

type options struct {
	names     names
	timeout   time.Duration
	isolation pgx.TxIsoLevel
}

func newOptions(opts []Option) options {
	o := options{names: names{table: DefaultTable}, timeout: defaultTimeout}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// WithSchema names the schema of the table and of what belongs to it. Without
// it they are found, and made, by the connection's search path. Any name will
// do: it is quoted. WithSchema panics if name is empty or holds a zero byte.
func WithSchema(name string) Option {
	if name == "" || strings.ContainsRune(name, 0) {
		panic("postgres: WithSchema: not a name")
	}
	return func(o *options) { o.names.schema = name }
}

// WithTable names the table, in place of DefaultTable. The objects that belong
// to it have its name and a suffix. Any name of up to 50 bytes will do: it is
// quoted. WithTable panics if name is empty, longer, or holds a zero byte.
func WithTable(name string) Option {
	if name == "" || len(name) > maxTableName || strings.ContainsRune(name, 0) {
		panic("postgres: WithTable: not a name of 1 to 50 bytes")
	}
	return func(o *options) { o.names.table = name }
}

// WithTimeout bounds each round trip to the database, the wait for a
// connection of the pool included; 10 seconds by default. After it the outcome
// is unknown, and the connection is given up. WithTimeout panics if d is not
// positive.
func WithTimeout(d time.Duration) Option {
	if d <= 0 {
		panic("postgres: WithTimeout: not positive")
	}
	return func(o *options) { o.timeout = d }
}

// WithIsolation sets the isolation level of the transactions that the backend
// begins for methods in transactional mode; the database's default otherwise.
// At pgx.RepeatableRead and pgx.Serializable calls can fail with
// idem.ErrSerialization, and can then be made again.
func WithIsolation(level pgx.TxIsoLevel) Option {
	return func(o *options) { o.isolation = level }
}
