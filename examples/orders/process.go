package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/examples/orders/orders"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

// What the processes learn from their environment.
const (
	databaseEnv = "ORDERS_DATABASE_URL"
	mailEnv     = "ORDERS_MAIL_URL"
)

// serve is the process of the service. It says at which address it listens,
// and ends in good order when in does.
func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	pool, err := pgxpool.New(ctx, os.Getenv(databaseEnv))
	if err != nil {
		return err
	}
	defer pool.Close()
	backend := postgres.New(pool)
	defer backend.Close()
	store := idem.New(backend)
	service := orders.NewIdempotentOrders(orders.Service{}, store)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: orders.Handler(service), ReadHeaderTimeout: time.Second}
	go func() {
		untilEnd(in)
		_ = server.Shutdown(ctx) // whose error would be that of ctx
	}()
	fmt.Fprintln(out, listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return store.Close(ctx)
}

// relay is the process that sends the confirmations, until in ends.
func relay(ctx context.Context, in io.Reader, out io.Writer) error {
	pool, err := pgxpool.New(ctx, os.Getenv(databaseEnv))
	if err != nil {
		return err
	}
	defer pool.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		untilEnd(in)
		cancel()
	}()
	fmt.Fprintln(out, "ready")
	r := &orders.Relay{Pool: pool, Send: mailTo(os.Getenv(mailEnv)), Pause: 10 * time.Millisecond}
	return r.Run(ctx)
}

// untilEnd returns when the process that holds the other end of in has closed
// it, or has died.
func untilEnd(in io.Reader) { _, _ = io.Copy(io.Discard, in) }

// A process is a running serve or relay.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer // ends the process when it is closed
	said   string    // its first line
	killed bool
}

// start runs this program as another process, until that has said that it is
// ready.
func start(command string, env ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, command)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("%s did not start: %w", command, errors.Join(err, cmd.Wait()))
	}
	return &process{cmd: cmd, stdin: stdin, said: strings.TrimSpace(line)}, nil
}

// kill ends the process without giving it a chance to do anything (SIGKILL).
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil {
		return err
	}
	p.killed = true
	// The error says that it was killed.
	_ = p.cmd.Wait()
	return nil
}

// stop lets the process end in good order, if it still runs.
func (p *process) stop() error {
	if p.killed {
		return nil
	}
	return errors.Join(p.stdin.Close(), p.cmd.Wait())
}
