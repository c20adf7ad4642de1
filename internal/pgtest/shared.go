package pgtest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

// EnvDSN is the environment variable that names a server to test against.
// Without it every test binary starts one of its own.
const EnvDSN = "IDEM_TEST_DSN"

// shared is the server of this test binary, started at first use.
var shared struct {
	once   sync.Once
	server *Server // nil if EnvDSN names one
	dsn    string
	err    error
}

// names numbers the schemas and databases of this process.
var names atomic.Int64

// Main runs the tests of a package and stops the server that they shared.
func Main(m *testing.M) {
	code := m.Run()
	if shared.server != nil {
		if err := shared.server.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// DSN returns the connection string of the server that the tests of this
// binary share. A package whose tests use it must call Main in its TestMain.
func DSN(tb testing.TB) string {
	tb.Helper()
	shared.once.Do(func() {
		if shared.dsn = os.Getenv(EnvDSN); shared.dsn != "" {
			return
		}
		if shared.server, shared.err = Start(); shared.err == nil {
			shared.dsn = shared.server.DSN()
		}
	})
	if shared.err != nil {
		tb.Fatal(shared.err)
	}
	return shared.dsn
}

// Schema makes an empty schema in the shared server, drops it when the test
// ends, and returns its name. The name needs quoting.
func Schema(tb testing.TB) string {
	tb.Helper()
	name := unique()
	admin(tb, "CREATE SCHEMA %s", name)
	tb.Cleanup(func() { admin(tb, "DROP SCHEMA %s CASCADE", name) })
	return name
}

// Database makes an empty database in the shared server, drops it when the
// test ends, and returns its connection string.
func Database(tb testing.TB) string {
	tb.Helper()
	name := unique()
	admin(tb, "CREATE DATABASE %s", name)
	tb.Cleanup(func() { admin(tb, "DROP DATABASE %s WITH (FORCE)", name) })
	dsn, err := withDatabase(DSN(tb), name)
	if err != nil {
		tb.Fatal(err)
	}
	return dsn
}

// unique returns a name that no other test uses, also in another process that
// tests against the same server, and that is wrong where it is not quoted.
func unique() string { return fmt.Sprintf("Idem Test %d-%d", os.Getpid(), names.Add(1)) }

func admin(tb testing.TB, statement, name string) {
	tb.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, DSN(tb))
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, fmt.Sprintf(statement, pgx.Identifier{name}.Sanitize())); err != nil {
		tb.Fatal(err)
	}
}
