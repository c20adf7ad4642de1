package orders

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// open returns the service on a database of its own.
func open(t *testing.T) (*pgxpool.Pool, Orders) {
	t.Helper()
	ctx := t.Context()
	pool, err := pgxpool.New(ctx, pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if err := errors.Join(Migrate(ctx, pool), postgres.Migrate(ctx, pool)); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(ctx, "INSERT INTO stock (item, quantity) VALUES ('pen', 3)"); err != nil {
		t.Fatal(err)
	}
	backend := postgres.New(pool)
	t.Cleanup(backend.Close)
	store := idem.New(backend)
	t.Cleanup(func() {
		if err := store.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return pool, NewIdempotentOrders(Service{}, store)
}

// counts returns what there is of orders, messages and records, and of pens.
func counts(t *testing.T, pool *pgxpool.Pool) (got [4]int) {
	t.Helper()
	err := pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM outbox),
		(SELECT count(*) FROM idem_records), (SELECT quantity FROM stock)`).Scan(&got[0], &got[1], &got[2], &got[3])
	if err != nil {
		t.Fatal(err)
	}
	return got
}

var request = Request{CustomerID: "c", RequestID: "r", Item: "pen", Quantity: 2}

func TestPlace(t *testing.T) {
	pool, service := open(t)
	first, err := service.Place(t.Context(), request)
	if err != nil || first.Quantity != 2 {
		t.Fatalf("got %+v, %v", first, err)
	}
	if again, err := service.Place(t.Context(), request); err != nil || again != first {
		t.Errorf("the retry got %+v, %v, want %+v", again, err, first)
	}
	other := request
	other.RequestID = "s"
	for range 2 {
		if _, err := service.Place(t.Context(), other); !errors.Is(err, ErrSoldOut) {
			t.Errorf("two pens of one: %v", err)
		}
	}
	if got := counts(t, pool); got != [4]int{1, 1, 2, 1} {
		t.Errorf("counts: %v", got)
	}
	if _, err := (Service{}).Place(t.Context(), request); err == nil {
		t.Error("an order was placed outside of a transaction")
	}
}

// An order in a transaction of the caller's own is part of that.
func TestPlaceInAnothersTransaction(t *testing.T) {
	pool, service := open(t)
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := service.Place(postgres.WithTx(t.Context(), tx), request); err != nil {
		t.Error(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
	if got := counts(t, pool); got != [4]int{0, 0, 0, 3} {
		t.Errorf("counts after a rollback: %v", got)
	}
}

// A message that could not be sent stays in the outbox, under its name.
func TestRelay(t *testing.T) {
	pool, service := open(t)
	if _, err := service.Place(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var tried []Message
	relay := &Relay{Pool: pool, Send: func(_ context.Context, m Message) error {
		tried = append(tried, m)
		if len(tried) == 1 {
			return errors.New("no mail today")
		}
		return nil
	}}
	if err := relay.Run(ctx); err == nil || err.Error() != "no mail today" {
		t.Errorf("the relay ended with %v", err)
	}
	for _, want := range []bool{true, false} {
		if sent, err := relay.next(ctx); sent != want || err != nil {
			t.Errorf("sent is %v, %v, want %v", sent, err, want)
		}
	}
	if len(tried) != 2 || tried[0] != tried[1] || tried[0].ID == "" || tried[0].Text != "Your order 1: 2 x pen" {
		t.Errorf("tried were %+v", tried)
	}
	cancel()
	if err := relay.Run(ctx); err != nil {
		t.Error(err)
	}
}

type answering struct{ err error }

func (a answering) Place(context.Context, Request) (Order, error) { return Order{Number: 7}, a.err }

func TestHandler(t *testing.T) {
	for _, tt := range []struct {
		body   string
		err    error
		status int
		answer string
	}{
		{"{}", nil, http.StatusOK, `"Number":7`},
		{"{", nil, http.StatusBadRequest, "EOF"},
		{"{}", ErrSoldOut, http.StatusConflict, "sold out"},
		{"{}", errors.New("broken"), http.StatusServiceUnavailable, "broken"},
		{"{}", idem.ErrKeyReused, http.StatusUnprocessableEntity, "other arguments"},
		{"{}", idem.ErrEmptyKey, http.StatusInternalServerError, "empty"},
	} {
		w := httptest.NewRecorder()
		Handler(answering{tt.err}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/orders", strings.NewReader(tt.body)))
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.answer) {
			t.Errorf("%s, %v: status %d and %q, want %d and %q", tt.body, tt.err, w.Code, w.Body, tt.status, tt.answer)
		}
	}
}
