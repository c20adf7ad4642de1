package payments

import (
	"context"
	"fmt"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// A Service is the Payments that really charges. It knows nothing of retries.
type Service struct {
	Processor *Processor
}

// Charge debits the customer's card.
func (s *Service) Charge(ctx context.Context, req ChargeRequest) (Receipt, error) {
	total := Money{req.Amount, req.Currency}
	id, err := s.Processor.Charge(downstreamKey(ctx), req.CustomerID, total)
	if err != nil {
		return Receipt{}, fmt.Errorf("charge %s: %w", req.OrderID, err)
	}
	return Receipt{
		ID:         id,
		CustomerID: req.CustomerID,
		Total:      total,
		Lines:      []Line{{"order " + req.OrderID, total}},
		At:         time.Now().UTC().Truncate(time.Second),
	}, nil
}

// Refund gives the money of a charge back.
func (s *Service) Refund(_ context.Context, chargeID string) error {
	return s.Processor.Refund(chargeID)
}

// Charged returns what a customer has paid.
func (s *Service) Charged(_ context.Context, customerID string) (Money, error) {
	return s.Processor.Charged(customerID), nil
}

// downstreamKey is the key under which the processor recognises a charge that
// an earlier attempt made before its process died.
func downstreamKey(ctx context.Context) string {
	execution, ok := idem.ExecutionFrom(ctx)
	if !ok {
		return ""
	}
	return execution.Child("card")
}
