package payments

import (
	"errors"
	"fmt"
	"sync"
)

// ErrUnavailable is the processor's bad day.
var ErrUnavailable = errors.New("the card processor is unavailable")

// A Processor stands for the company that moves the money. It counts what it
// is asked and what it does. The zero value is ready.
type Processor struct {
	mu       sync.Mutex
	failures int               // requests to turn down
	requests int               // asked for a charge
	charges  int               // charged
	refunds  int               // refunded
	byKey    map[string]string // idempotency key to charge
	paid     map[string]Money  // by customer
}

// Charge moves money and returns the charge's name. Like most processors it
// takes an idempotency key of its own: with the same one it charges once.
func (p *Processor) Charge(key, customerID string, amount Money) (chargeID string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	if p.failures > 0 {
		p.failures--
		return "", ErrUnavailable
	}
	if id, known := p.byKey[key]; known && key != "" {
		return id, nil
	}
	p.charges++
	chargeID = fmt.Sprintf("ch_%d", p.charges)
	if p.byKey == nil {
		p.byKey = make(map[string]string)
		p.paid = make(map[string]Money)
	}
	p.byKey[key] = chargeID
	p.paid[customerID] = Money{p.paid[customerID].Amount + amount.Amount, amount.Currency}
	return chargeID, nil
}

// Refund gives money back, as often as it is asked.
func (p *Processor) Refund(string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refunds++
	return nil
}

// Fail turns down the next n requests.
func (p *Processor) Fail(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures = n
}

// Charged returns what a customer has paid.
func (p *Processor) Charged(customerID string) Money {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.paid[customerID]
}

// Counts returns how often the processor was asked for a charge, charged, and
// refunded.
func (p *Processor) Counts() (requests, charges, refunds int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests, p.charges, p.refunds
}
