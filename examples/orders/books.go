package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/idemgen/idem/examples/orders/orders"
)

func (s *shop) relayKilled(ctx context.Context) error {
	s.title("The relay of the outbox is killed after it has sent a mail, before it could note that.")
	silenced := s.mail.silence()
	first, err := start("relay", s.env...)
	if err != nil {
		return err
	}
	select {
	case <-silenced:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := first.kill(); err != nil {
		return err
	}
	var unsent int
	if err := s.db.pool.QueryRow(ctx, "SELECT count(*) FROM outbox WHERE sent_at IS NULL").Scan(&unsent); err != nil {
		return err
	}
	_, delivered := s.mail.counts()
	s.say("mails delivered %d, confirmations not marked as sent %d", delivered, unsent)
	second, err := start("relay", s.env...)
	if err != nil {
		return err
	}
	s.say("another relay sends them all, that one again, under the same key")
	if err := s.await(ctx, "SELECT NOT EXISTS (SELECT FROM outbox WHERE sent_at IS NULL)"); err != nil {
		return err
	}
	requests, delivered := s.mail.counts()
	s.say("mails asked for %d, mails delivered %d", requests, delivered)
	return second.stop()
}

// books compares what the customers were told with what is in the database.
func (s *shop) books(ctx context.Context) error {
	s.title("The books: what the customers were told, beside what there is.")
	rows, err := s.db.pool.Query(ctx, "SELECT customer_id, request_id, item, quantity, number FROM orders")
	if err != nil {
		return err
	}
	written, told, problems := 0, 0, []error(nil)
	var req orders.Request
	var number int64
	found := map[orders.Request]bool{}
	_, err = pgx.ForEachRow(rows, []any{&req.CustomerID, &req.RequestID, &req.Item, &req.Quantity, &number}, func() error {
		written++
		if answer := s.answers[req]; found[req] || answer == nil || answer.Number != number {
			problems = append(problems, fmt.Errorf("order %d is not what %s got: %+v", number, req.RequestID, answer))
		}
		found[req] = true
		return nil
	})
	if err != nil {
		return err
	}
	for req, answer := range s.answers {
		if answer == nil {
			continue
		}
		told++
		if !found[req] {
			problems = append(problems, fmt.Errorf("%s got the order %d, which there is not", req.RequestID, answer.Number))
		}
	}
	var gone, ordered, confirmations, distinct int
	err = s.db.pool.QueryRow(ctx, `SELECT $1 - quantity, (SELECT coalesce(sum(quantity), 0) FROM orders WHERE item = 'pen'),
		(SELECT count(*) FROM outbox), (SELECT count(DISTINCT message_id) FROM outbox)
		FROM stock WHERE item = 'pen'`, pens).Scan(&gone, &ordered, &confirmations, &distinct)
	if err != nil {
		return err
	}
	_, delivered := s.mail.counts()
	s.say("orders that customers were told of %d, orders %d, confirmations %d, mails %d", told, written, confirmations, delivered)
	s.say("pens that left the stock %d, pens in orders %d", gone, ordered)
	if gone != ordered {
		problems = append(problems, fmt.Errorf("pens that left the stock: %d, pens in orders: %d", gone, ordered))
	}
	if confirmations != written || distinct != written {
		problems = append(problems, fmt.Errorf("orders: %d, confirmations: %d, different ones: %d", written, confirmations, distinct))
	}
	if delivered != written {
		problems = append(problems, fmt.Errorf("orders: %d, mails: %d", written, delivered))
	}
	if len(problems) == 0 {
		s.say("nothing was lost, and nothing was doubled")
	}
	return errors.Join(problems...)
}
