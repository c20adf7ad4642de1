// Package payments moves money through a card processor. Its interface says,
// in directives, which of its methods run once and by what key; idemgen wrote
// payments_idem.go from that.
package payments

import (
	"context"
	"fmt"
	"time"
)

//go:generate go tool idemgen

// Payments moves money.
type Payments interface {
	// Charge debits the customer's card.
	//
	//idem:key req.CustomerID, req.OrderID
	//idem:name payments.Charge
	//idem:ttl 48h
	Charge(ctx context.Context, req ChargeRequest) (Receipt, error)

	// Refund gives the money of a charge back. The processor does not notice
	// a repeated refund, so after a crash a person decides.
	//
	//idem:key chargeID
	//idem:name payments.Refund
	//idem:recover refuse
	Refund(ctx context.Context, chargeID string) error

	// Charged has no directive: the wrapper passes it through.
	Charged(ctx context.Context, customerID string) (Money, error)
}

// A ChargeRequest asks for money.
type ChargeRequest struct {
	CustomerID string
	OrderID    string
	Amount     int64 // in hundredths
	Currency   string
}

// A Receipt says what was charged.
type Receipt struct {
	ID         string
	CustomerID string
	Total      Money
	Lines      []Line
	At         time.Time
}

// A Line is one position of a receipt.
type Line struct {
	Text  string
	Price Money
}

// Money is an amount of a currency.
type Money struct {
	Amount   int64 // in hundredths
	Currency string
}

// String formats m for people.
func (m Money) String() string {
	return fmt.Sprintf("%d.%02d %s", m.Amount/100, m.Amount%100, m.Currency)
}
