package orders

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A Message is a row of the outbox.
type Message struct {
	ID        string
	Recipient string
	Text      string
}

// A Relay sends the messages of the outbox, each at least once: a relay that
// dies after it sent one and before it noted that leaves the message to the
// next, with the same ID. Any number of relays may run.
type Relay struct {
	Pool *pgxpool.Pool

	// Send hands a message to the system that delivers it, which ought to
	// ignore one whose ID it has seen.
	Send func(context.Context, Message) error

	// Pause is how long the relay waits when there is nothing to send.
	Pause time.Duration
}

// Run sends what is there and what comes, until ctx ends or something fails.
func (r *Relay) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		sent, err := r.next(ctx)
		switch {
		case sent:
			continue
		case err != nil && ctx.Err() == nil:
			return err
		}
		select {
		case <-time.After(r.Pause):
		case <-ctx.Done():
		}
	}
	return nil
}

// next sends the oldest message that no other relay is sending. It reports
// false if there is none.
func (r *Relay) next(ctx context.Context) (sent bool, err error) {
	err = pgx.BeginFunc(ctx, r.Pool, func(tx pgx.Tx) error {
		var position int64
		var m Message
		err := tx.QueryRow(ctx, `SELECT position, message_id, recipient, text FROM outbox
			WHERE sent_at IS NULL ORDER BY position LIMIT 1 FOR UPDATE SKIP LOCKED`).
			Scan(&position, &m.ID, &m.Recipient, &m.Text)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := r.Send(ctx, m); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE outbox SET sent_at = now() WHERE position = $1`, position)
		sent = true
		return err
	})
	return sent && err == nil, err
}
