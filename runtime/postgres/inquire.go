package postgres

import (
	"context"
	"fmt"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// inquiryPause is how long to wait for a database that does not answer.
const inquiryPause = 50 * time.Millisecond

// inquire finds out what became of a transaction whose commit was not
// acknowledged for the reason given. A look at the record is not enough: the
// server may be about to commit still. So the same key is claimed once more,
// which waits for the transaction if it has not ended, and that claim is then
// rolled back.
func (t *transaction) inquire(ctx context.Context, cause error) error {
	if t.fence == 0 { // nothing was claimed in it
		return idem.Uncertain(cause)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.backend.timeout)
	defer cancel()
	for {
		r, err := t.backend.claimAndUndo(ctx, t.request)
		switch {
		case err != nil:
		case r.Record.Fence == t.fence && r.Status == idem.ClaimCompleted:
			return nil
		case r.Status != idem.ClaimPending || r.Record.Fence != 0:
			return fmt.Errorf("postgres: the transaction was not committed: %w", cause)
		}
		select {
		case <-ctx.Done():
			return idem.Uncertain(fmt.Errorf("postgres: it is not known whether the transaction was committed: %w", cause))
		case <-time.After(inquiryPause):
		}
	}
}

// claimAndUndo returns what a claim would have come to.
func (b *Backend) claimAndUndo(ctx context.Context, r idem.ClaimRequest) (idem.ClaimResult, error) {
	tx, err := b.begin(ctx)
	if err != nil {
		return idem.ClaimResult{}, err
	}
	t := &transaction{backend: b, tx: tx}
	defer t.Rollback(ctx)
	return t.Claim(ctx, r, time.Second)
}
