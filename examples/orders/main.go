// Command orders shows an order service on PostgreSQL in which an order, a row
// of its outbox and the idempotency record commit together. It kills the
// service and its relay in the middle of their work, again and again, and
// counts what is left.
//
//	go run ./examples/orders
//	go run ./examples/orders -dsn postgres://user@host/database
//
// Without -dsn it starts a PostgreSQL of its own in a temporary directory, for
// which the programs of PostgreSQL have to be installed. With it, it works in a
// schema of its own, and drops that at the end. It reads no environment
// variable, so that it meets no database by accident.
//
// The processes that it kills are this program, too: "orders serve" is the
// service, and "orders relay" sends the confirmations. Package orders has what
// they are made of.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "orders:", err)
		os.Exit(1)
	}
}

// run is the program. The processes that it starts end when in does.
func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("orders", flag.ContinueOnError)
	flags.SetOutput(out)
	dsn := flags.String("dsn", "", "PostgreSQL to use; without it, one is started")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	switch flags.Arg(0) {
	case "":
		return story(ctx, *dsn, out)
	case "serve":
		return serve(ctx, in, out)
	case "relay":
		return relay(ctx, in, out)
	default:
		return fmt.Errorf("%s is no command: there are serve and relay", flags.Arg(0))
	}
}

// story shows one scene after the other. What it writes after the first line
// is the same each time.
func story(ctx context.Context, dsn string, out io.Writer) (err error) {
	db, err := openDatabase(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close()) }()
	fmt.Fprintln(out, db.description)

	s, err := openShop(ctx, db, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	scenes := []func(context.Context) error{
		s.firstCall, s.retry, s.killedInTheMiddle, s.killedAfterTheCommit,
		s.soldOut, s.killedUnderLoad, s.relayKilled, s.books,
	}
	for _, scene := range scenes {
		if err := scene(ctx); err != nil {
			return err
		}
	}
	return nil
}
