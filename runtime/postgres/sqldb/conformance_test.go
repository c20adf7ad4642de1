package sqldb

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/idemtest"
	"github.com/idemgen/idem/runtime/postgres"
)

// A server is where the tests keep records, beside the driver under test.
type server struct {
	pool   *pgxpool.Pool
	schema string
}

// openServer makes a table of records in a schema of the test's own.
func openServer(t testing.TB) server {
	t.Helper()
	s := server{schema: pgtest.Schema(t)}
	var err error
	if s.pool, err = pgxpool.New(t.Context(), pgtest.DSN(t)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.pool.Close)
	if err := postgres.Migrate(t.Context(), s.pool, postgres.WithSchema(s.schema)); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s server) backend(t testing.TB, db *DB, opts ...postgres.Option) *postgres.Backend {
	b := postgres.New(db, append(opts, postgres.WithSchema(s.schema))...)
	t.Cleanup(b.Close)
	return b
}

// table returns the quoted name of a table in the schema.
func (s server) table(name string) string { return pgx.Identifier{s.schema, name}.Sanitize() }

func TestConformance(t *testing.T) {
	db := open(t)
	servers := map[idem.Backend]server{}
	idemtest.Run(t, idemtest.Config{
		Open: func(t testing.TB) idem.Backend {
			s := openServer(t)
			b := s.backend(t, db)
			servers[b] = s
			return b
		},
		Advance: func(b idem.Backend, d time.Duration) error {
			s := servers[b]
			_, err := s.pool.Exec(t.Context(), "UPDATE "+s.table(postgres.DefaultTable)+` SET claimed_at = claimed_at - $1::interval,
				lease_until = lease_until - $1::interval, expires_at = expires_at - $1::interval,
				sweep_at = sweep_at - $1::interval`, d)
			return err
		},
	})
}
