package pgtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestMain(m *testing.M) { Main(m) }

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func one(t *testing.T, conn *pgx.Conn, statement string, args ...any) int {
	t.Helper()
	var n int
	if err := conn.QueryRow(t.Context(), statement, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func run(t *testing.T, conn *pgx.Conn, statement string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// A crash loses nothing that was committed, and the server comes back on the
// same port.
func TestRestart(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, s.DSN())
	run(t, conn, "CREATE TABLE kept (n int)")
	for i, mode := range []StopMode{Fast, Immediate} {
		run(t, conn, "INSERT INTO kept VALUES (1)")
		if err := s.Restart(mode); err != nil {
			t.Fatal(err)
		}
		conn = connect(t, s.DSN())
		if n := one(t, conn, "SELECT count(*) FROM kept"); n != i+1 {
			t.Errorf("after restart %d: %d rows", i, n)
		}
	}
	if !strings.Contains(s.Log(), "ready to accept connections") {
		t.Errorf("log: %s", s.Log())
	}
	dir := s.SocketDir()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
}

func TestStartReportsLog(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Stop(Fast); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.data(), "postgresql.conf"), []byte("nonsense = 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("err = %v, want the server's own words", err)
	}
}

func TestMissingBinarySaysWhatToInstall(t *testing.T) {
	_, err := Binary("no-such-program")
	var missing *MissingError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "apt-get install -y postgresql") {
		t.Errorf("err = %v", err)
	}
}

func TestVersionsAreNumbers(t *testing.T) {
	if version("/usr/lib/postgresql/9/bin/postgres") >= version("/usr/lib/postgresql/15/bin/postgres") {
		t.Error("9 follows 15")
	}
}

func TestDatabasesAndSchemasAreSeparate(t *testing.T) {
	first, second := connect(t, Database(t)), connect(t, Database(t))
	run(t, first, "CREATE TABLE x ()")
	run(t, second, "CREATE TABLE x ()")
	if a, b := Schema(t), Schema(t); a == b {
		t.Errorf("two schemas are called %q", a)
	}
}

func TestTrips(t *testing.T) {
	p, dsn := ProxyTo(t, DSN(t))
	conn := connect(t, dsn)
	one(t, conn, "SELECT 1") // prepares
	before := p.Trips()
	for range 3 {
		one(t, conn, "SELECT 1")
	}
	one(t, conn, "SELECT 1", pgx.QueryExecModeSimpleProtocol)
	if n := p.Trips() - before; n != 4 {
		t.Errorf("%d trips for four statements", n)
	}
	if n := p.Accepted(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// The statement is committed although its client only sees a dead connection.
func TestLoseReply(t *testing.T) {
	direct := connect(t, Database(t))
	run(t, direct, "CREATE TABLE x (n int)")
	p, dsn := ProxyTo(t, direct.Config().ConnString())
	for i, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeSimpleProtocol} {
		conn := connect(t, dsn)
		if i == 0 { // prepare, which has a reply of its own
			run(t, conn, "INSERT INTO x VALUES (1)")
		}
		lost := p.LoseReply("INSERT INTO x")
		_, err := conn.Exec(t.Context(), "INSERT INTO x VALUES (1)", mode)
		<-lost
		if err == nil || pgconn.SafeToRetry(err) {
			t.Errorf("err = %v, want one that leaves the outcome open", err)
		}
		if n := one(t, direct, "SELECT count(*) FROM x"); n != i+2 {
			t.Errorf("%d rows, want %d", n, i+2)
		}
	}
}

func TestCutAndRefuse(t *testing.T) {
	p, dsn := ProxyTo(t, DSN(t))
	conn := connect(t, dsn)
	p.Cut()
	if _, err := conn.Exec(t.Context(), "SELECT 1"); err == nil {
		t.Error("a statement passed a cut connection")
	}
	p.Refuse(true)
	if _, err := pgx.Connect(t.Context(), dsn); err == nil {
		t.Error("a refused connection was opened")
	}
	p.Refuse(false)
	one(t, connect(t, dsn), "SELECT 1")
}

func TestDelay(t *testing.T) {
	p, dsn := ProxyTo(t, DSN(t))
	conn := connect(t, dsn)
	p.Delay(time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if _, err := conn.Exec(ctx, "SELECT 1"); err == nil {
		t.Error("a reply came through a delay of an hour")
	}
	p.Delay(0)
}

func TestPgBouncer(t *testing.T) {
	dsn := PgBouncer(t, DSN(t))
	conn := connect(t, dsn)
	var pid uint32
	if err := conn.QueryRow(t.Context(), "SELECT pg_backend_pid()", pgx.QueryExecModeExec).Scan(&pid); err != nil {
		t.Fatal(err)
	}
	if pid == conn.PgConn().PID() {
		t.Error("the connection goes straight to the server")
	}
}
