package main

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/internal/pgtest"
)

// The test binary is the processes of the story, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && (os.Args[1] == "serve" || os.Args[1] == "relay") {
		main()
		return
	}
	pgtest.Main(m)
}

func TestStory(t *testing.T) {
	dsn := pgtest.Database(t)
	var out strings.Builder
	if err := run(t.Context(), []string{"-dsn", dsn}, nil, &out); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	first, rest, _ := strings.Cut(out.String(), "\n")
	if !strings.HasPrefix(first, "PostgreSQL 1") || !strings.Contains(first, "in the schema orders_example_") {
		t.Errorf("the first line is %q", first)
	}
	if rest != want {
		t.Errorf("got\n%s\nwant\n%s", rest, want)
	}

	pool, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var left int
	if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'orders%'").Scan(&left); err != nil || left > 0 {
		t.Errorf("%d schemas are left, %v", left, err)
	}
}

const want = `
An order, its confirmation in the outbox and its idempotency record commit together.
  req-1: order 1, 1 x pen (executed)
  in the database: orders 1, confirmations 1, idempotency records 1, pens left 999

A retry gets the same order.
  req-1: order 1, 1 x pen (replayed)
  in the database: orders 1, confirmations 1, idempotency records 1, pens left 999

The service is killed in the middle: the order is written, its transaction has not committed.
  req-2: no answer
  in the database: orders 1, confirmations 1, idempotency records 1, pens left 999
  the service is there again, and the customer asks again
  req-2: order 3, 1 x pen (executed)
  the number 2 went with the crash: a sequence gives none twice
  in the database: orders 2, confirmations 2, idempotency records 2, pens left 998

The service is killed right after the commit, before the customer has heard of it.
  req-3: no answer
  in the database: orders 3, confirmations 3, idempotency records 3, pens left 997
  the service is there again, and the customer asks again
  req-3: order 4, 1 x pen (replayed)
  in the database: orders 3, confirmations 3, idempotency records 3, pens left 997

A refusal is an outcome, too (//idem:final): a retry is refused, even if there are goods again.
  req-4: sold out (executed)
  five globes arrive
  req-4: sold out (replayed)
  req-5: order 5, 2 x globe (executed)
  in the database: orders 4, confirmations 4, idempotency records 5, pens left 997

8 customers place 25 orders each, while the service is killed 4 times.
  customers with an answer to each of their requests: 8
  in the database: orders 204, confirmations 204, idempotency records 205, pens left 797

The relay of the outbox is killed after it has sent a mail, before it could note that.
  mails delivered 1, confirmations not marked as sent 204
  another relay sends them all, that one again, under the same key
  mails asked for 205, mails delivered 204

The books: what the customers were told, beside what there is.
  orders that customers were told of 204, orders 204, confirmations 204, mails 204
  pens that left the stock 203, pens in orders 203
  nothing was lost, and nothing was doubled
`

func TestADatabaseOfItsOwn(t *testing.T) {
	db, err := openDatabase(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(db.description, "started for this in a temporary directory.") {
		t.Errorf("it says %q", db.description)
	}
	if err := db.close(); err != nil {
		t.Error(err)
	}
}

// What the story says in the end is what it has looked up.
func TestTheBooksTell(t *testing.T) {
	ctx := t.Context()
	db, err := openDatabase(ctx, pgtest.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	s, err := openShop(ctx, db, &out)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.firstCall(ctx); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct{ change, want string }{
		{"SELECT", "orders: 1, mails: 0"},
		{"UPDATE stock SET quantity = quantity + 1", "pens that left the stock: 0, pens in orders: 1"},
		{"INSERT INTO outbox (message_id, recipient, text) SELECT message_id, recipient, text FROM outbox", "orders: 1, confirmations: 2, different ones: 1"},
		{"INSERT INTO orders (customer_id, request_id, item, quantity) SELECT customer_id, request_id, item, quantity FROM orders", "order 2 is not what req-1 got"},
		{"DELETE FROM orders", "req-1 got the order 1, which there is not"},
	} {
		if err := execute(ctx, db.url, tt.change); err != nil {
			t.Error(err)
		}
		if err := s.books(ctx); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("after %s the books say %v, want %s", tt.change, err, tt.want)
		}
	}
	if strings.Contains(out.String(), "nothing was lost") {
		t.Errorf("it says that all is well:\n%s", out.String())
	}
	if err := errors.Join(s.close(), db.close()); err != nil {
		t.Error(err)
	}
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"-dsn nonsense": "cannot parse",
		"-nonsense":     "flag provided but not defined",
		"sell":          "sell is no command: there are serve and relay",
	} {
		var out strings.Builder
		if err := run(t.Context(), strings.SplitN(args, " ", 2), nil, &out); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("orders %s: %v, want %s", args, err, want)
		}
	}
}

func TestInSchema(t *testing.T) {
	for dsn, want := range map[string]string{
		"postgres://u@h:1/d":                 "postgres://u@h:1/d?search_path=s",
		"postgres://u@h:1/d?sslmode=disable": "postgres://u@h:1/d?search_path=s&sslmode=disable",
		"host=h user=u":                      "host=h user=u search_path=s",
	} {
		if got := inSchema(dsn, "s"); got != want {
			t.Errorf("inSchema(%q) = %q, want %q", dsn, got, want)
		}
	}
}
