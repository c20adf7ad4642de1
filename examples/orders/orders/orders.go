// Package orders takes orders, and has a confirmation sent for each. Its
// interface says, in a directive, that an order commits together with the
// record that makes it happen once; idemgen wrote orders_idem.go from that.
package orders

import (
	"context"
	_ "embed"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"
)

//go:generate go tool idemgen

// Orders takes orders.
type Orders interface {
	// Place takes an order: the goods out of the stock, the order into the
	// books, and a confirmation into the outbox. All of that and the record of
	// its result commit together, or nothing does.
	//
	//idem:key req.CustomerID, req.RequestID
	//idem:name orders.Place
	//idem:final ErrSoldOut
	//idem:tx
	Place(ctx context.Context, req Request) (Order, error)
}

// ErrSoldOut refuses an order. It is an outcome: a retry is refused, too.
var ErrSoldOut = errors.New("sold out")

// A Request asks for an order. The customer names it once, and sends that name
// with each retry.
type Request struct {
	CustomerID string
	RequestID  string
	Item       string
	Quantity   int64
}

// An Order is what a customer gets.
type Order struct {
	Number     int64
	CustomerID string
	Item       string
	Quantity   int64
}

//go:embed schema.sql
var schema string

// Migrate makes the tables. It is to run once.
func Migrate(ctx context.Context, pool *pgxpool.Pool) error {
	_, err := pool.Exec(ctx, schema)
	return err
}
