package orders

import (
	"context"
	"errors"
	"fmt"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

// A Service is the Orders that really writes. It knows nothing of retries.
type Service struct{}

// Place takes an order, in the transaction that ctx carries.
func (Service) Place(ctx context.Context, req Request) (Order, error) {
	tx, ok := postgres.TxFrom(ctx)
	if !ok {
		return Order{}, errors.New("orders: Place was called without a transaction: call it by NewIdempotentOrders")
	}
	taken, err := tx.Exec(ctx, `UPDATE stock SET quantity = quantity - $2 WHERE item = $1 AND quantity >= $2`,
		req.Item, req.Quantity)
	if err != nil {
		return Order{}, fmt.Errorf("take from stock: %w", err)
	}
	if taken.RowsAffected() == 0 {
		return Order{}, ErrSoldOut
	}
	order := Order{CustomerID: req.CustomerID, Item: req.Item, Quantity: req.Quantity}
	err = tx.QueryRow(ctx, `INSERT INTO orders (customer_id, request_id, item, quantity) VALUES ($1, $2, $3, $4) RETURNING number`,
		req.CustomerID, req.RequestID, req.Item, req.Quantity).Scan(&order.Number)
	if err != nil {
		return Order{}, fmt.Errorf("write the order: %w", err)
	}
	_, err = tx.Exec(ctx, `INSERT INTO outbox (message_id, recipient, text) VALUES ($1, $2, $3)`,
		messageID(ctx), order.CustomerID, fmt.Sprintf("Your order %d: %d x %s", order.Number, order.Quantity, order.Item))
	if err != nil {
		return Order{}, fmt.Errorf("write the confirmation: %w", err)
	}
	return order, nil
}

// messageID names the order's confirmation, the same one however often it is
// sent, so that the system that delivers it recognises a repetition.
func messageID(ctx context.Context) string {
	execution, _ := idem.ExecutionFrom(ctx)
	return execution.Child("confirmation")
}
