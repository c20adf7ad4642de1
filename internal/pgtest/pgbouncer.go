package pgtest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// Debian keeps the program where an ordinary account has no PATH to.
const debianPgBouncer = "/usr/sbin/pgbouncer"

// PgBouncer starts a pgbouncer that pools transactions in front of dsn's
// server until the test ends, and returns the connection string that goes
// through it. It has two connections to the server, so that sessions do get
// mixed.
func PgBouncer(tb testing.TB, dsn string) string {
	tb.Helper()
	through, stop, err := startPgBouncer(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := stop(); err != nil {
			tb.Error(err)
		}
	})
	return through
}

func startPgBouncer(dsn string) (through string, stop func() error, err error) {
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = debianPgBouncer
		if _, err := os.Stat(program); err != nil {
			return "", nil, &MissingError{Program: "pgbouncer", Package: "pgbouncer"}
		}
	}
	c, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "idem-pgbouncer-")
	if err != nil {
		return "", nil, err
	}
	clean := func(err error) error { return errors.Join(err, os.RemoveAll(dir)) }
	port, err := freePort()
	if err != nil {
		return "", nil, clean(err)
	}
	config := filepath.Join(dir, "pgbouncer.ini")
	password := ""
	if c.Password != "" {
		password = " password='" + strings.ReplaceAll(c.Password, "'", "''") + "'"
	}
	text := fmt.Sprintf(`[databases]
* = host=%s port=%d user=%s%s

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
max_client_conn = 500
`, c.Host, c.Port, c.User, password, port)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return "", nil, clean(err)
	}
	child, err := startChild(dir, "process up", program, config)
	if err != nil {
		return "", nil, clean(err)
	}
	stop = func() error { return clean(child.stop(syscall.SIGINT)) }
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return compose(c, addr, c.Database), stop, nil
}
