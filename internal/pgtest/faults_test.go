package pgtest

import (
	"bufio"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestConnectionStringsThatCannotBeUsed(t *testing.T) {
	const wrong = "postgres://host:port"
	if _, err := Through(wrong, "localhost:1"); err == nil {
		t.Error("Through took", wrong)
	}
	if _, err := withDatabase(wrong, "x"); err == nil {
		t.Error("withDatabase took", wrong)
	}
	for _, dsn := range []string{wrong, "host=/run/postgresql user=postgres"} {
		if _, err := address(dsn); err == nil {
			t.Error("address took", dsn)
		}
	}
	if _, _, err := startPgBouncer(wrong); err == nil {
		t.Error("startPgBouncer took", wrong)
	}
}

func TestThroughKeepsWhoConnectsWhere(t *testing.T) {
	got, err := Through("host=db user=alice password='p@ss' dbname=shop", "localhost:1234")
	if err != nil || got != "postgres://alice:p%40ss@localhost:1234/shop?sslmode=disable" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestFramesThatAreNone(t *testing.T) {
	for _, bytes := range []string{"", "Q", "Q\x00\x00\x00\x03", "Q\xff\xff\xff\xff", "Q\x00\x00\x00\x09abc"} {
		if f, err := readFrame(bufio.NewReader(strings.NewReader(bytes)), true); err == nil {
			t.Errorf("%q was read as %v", bytes, f)
		}
	}
	if got := (frame{body: []byte("a\x00b\x00")}).field(2); got != "" {
		t.Errorf("a field that is not there is %q", got)
	}
}

func TestProgramsThatDoNotRun(t *testing.T) {
	if _, err := startChild(t.TempDir(), "ready", "/no/such/program"); err == nil {
		t.Error("a program that does not exist was started")
	}
	if _, err := Binary("sh"); err != nil {
		t.Errorf("a program in PATH was not found: %v", err)
	}
	dsn := DSN(t) // starts the shared server
	t.Setenv("PATH", "")
	t.Setenv("TMPDIR", "/no/such/directory")
	if _, err := Start(); err == nil {
		t.Error("a server was started in a directory that does not exist")
	}
	if _, _, err := startPgBouncer(dsn); err == nil {
		t.Error("a pooler was started in a directory that does not exist")
	}
}

// The server behind a proxy may be down.
func TestAProxyToNobody(t *testing.T) {
	p, err := NewProxy("127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	dsn, err := Through(DSN(t), p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pgx.Connect(t.Context(), dsn); err == nil {
		t.Error("a connection to nobody was opened")
	}
}
