package pgtest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// A StopMode says how a server is stopped.
type StopMode int

// The ways to stop a server.
const (
	Fast      StopMode = iota // disconnect the clients, then shut down cleanly
	Immediate                 // a crash: the next start recovers from the WAL
)

// A Server is a PostgreSQL server that this process started. Its methods are
// not safe for concurrent use.
type Server struct {
	dir     string
	program string
	port    int
	child   *child
}

// Start makes a cluster in a temporary directory and starts its server. fsync
// is on: what the server acknowledged survives Immediate.
func Start() (*Server, error) {
	program, err := Binary("postgres")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "idem-postgres-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, program: program}
	if err := s.init(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.startAnywhere(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

func (s *Server) init() error {
	program, err := Binary("initdb")
	if err != nil {
		return err
	}
	attr, err := account(s.dir)
	if err != nil {
		return err
	}
	// Without --no-sync initdb takes seconds to flush what no test depends on.
	cmd := exec.Command(program, "--pgdata", s.data(), "--username", "postgres",
		"--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync")
	cmd.Dir = s.dir
	cmd.SysProcAttr = attr
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pgtest: initdb: %w\n%s", err, out)
	}
	return nil
}

// startAnywhere starts the server on a port that was free a moment ago, and
// tries another one when somebody else was faster.
func (s *Server) startAnywhere() error {
	var err error
	for range 5 {
		if s.port, err = freePort(); err != nil {
			return err
		}
		if err = s.Start(); err == nil {
			return nil
		}
	}
	return err
}

// Start starts a stopped server again, on the same port.
func (s *Server) Start() error {
	child, err := startChild(s.dir, "database system is ready to accept connections", s.program,
		"-D", s.data(), "-p", strconv.Itoa(s.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+s.dir,
		"-c", "max_connections=300", "-c", "shared_buffers=256MB",
		"-c", "max_wal_size=4GB", "-c", "log_min_messages=warning", "-c", "logging_collector=off")
	if err != nil {
		return err
	}
	s.child = child
	return nil
}

// Stop stops the server. It does nothing to a server that is not running.
func (s *Server) Stop(mode StopMode) error {
	signal := syscall.SIGINT
	if mode == Immediate {
		signal = syscall.SIGQUIT
	}
	return s.child.stop(signal)
}

// Restart stops the server and starts it again.
func (s *Server) Restart(mode StopMode) error {
	if err := s.Stop(mode); err != nil {
		return err
	}
	return s.Start()
}

// Close stops the server and deletes its directory.
func (s *Server) Close() error {
	return errors.Join(s.Stop(Immediate), os.RemoveAll(s.dir))
}

// DSN returns a connection string for the superuser, over TCP.
func (s *Server) DSN() string {
	return fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=disable", s.Addr())
}

// Addr returns the address that the server listens on.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// SocketDir returns the directory of the server's Unix socket.
func (s *Server) SocketDir() string { return s.dir }

// Log returns the last lines of the server's log.
func (s *Server) Log() string { return s.child.log.String() }

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}
