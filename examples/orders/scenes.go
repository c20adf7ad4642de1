package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"

	"github.com/idemgen/idem/examples/orders/orders"
)

// pens is how many there are in the beginning.
const pens = 1000

func (s *shop) title(text string) { fmt.Fprintf(s.out, "\n%s\n", text) }

func (s *shop) say(format string, args ...any) { fmt.Fprintf(s.out, "  "+format+"\n", args...) }

// order places an order and says what it came to.
func (s *shop) order(ctx context.Context, req orders.Request) error {
	order, outcome, err := s.place(ctx, req)
	switch {
	case err != nil:
	case order == nil:
		s.say("%s: sold out (%s)", req.RequestID, outcome)
	default:
		s.say("%s: order %d, %d x %s (%s)", req.RequestID, order.Number, order.Quantity, order.Item, outcome)
	}
	return err
}

func pen(request string) orders.Request {
	return orders.Request{CustomerID: "cus_9", RequestID: request, Item: "pen", Quantity: 1}
}

func globe(request string) orders.Request {
	return orders.Request{CustomerID: "cus_9", RequestID: request, Item: "globe", Quantity: 2}
}

// count says what has been committed.
func (s *shop) count(ctx context.Context) error {
	var written, confirmations, records, left int
	err := s.db.pool.QueryRow(ctx, `SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM outbox),
		(SELECT count(*) FROM idem_records), (SELECT quantity FROM stock WHERE item = 'pen')`).
		Scan(&written, &confirmations, &records, &left)
	if err == nil {
		s.say("in the database: orders %d, confirmations %d, idempotency records %d, pens left %d", written, confirmations, records, left)
	}
	return err
}

func (s *shop) firstCall(ctx context.Context) error {
	s.title("An order, its confirmation in the outbox and its idempotency record commit together.")
	return errors.Join(s.order(ctx, pen("req-1")), s.count(ctx))
}

func (s *shop) retry(ctx context.Context) error {
	s.title("A retry gets the same order.")
	return errors.Join(s.order(ctx, pen("req-1")), s.count(ctx))
}

func (s *shop) killedInTheMiddle(ctx context.Context) error {
	s.title("The service is killed in the middle: the order is written, its transaction has not committed.")
	// A lock on the outbox stops the service right there.
	lock, err := s.db.pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Rollback(ctx) }() // an error means that it was over
	if _, err := lock.Exec(ctx, "LOCK TABLE outbox IN SHARE MODE"); err != nil {
		return err
	}
	answer := make(chan error, 1)
	go func() {
		_, _, err := s.attempt(ctx, pen("req-2"))
		answer <- err
	}()
	if err := s.await(ctx, "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'outbox'::regclass AND mode = 'RowExclusiveLock' AND NOT granted)"); err != nil {
		return err
	}
	if err := s.service.kill(); err != nil {
		return err
	}
	if err := <-answer; !errors.Is(err, errTryAgain) {
		return fmt.Errorf("the service was killed, and its customer got %w", err)
	}
	if err := lock.Rollback(ctx); err != nil {
		return err
	}
	s.say("req-2: no answer")
	if err := s.count(ctx); err != nil {
		return err
	}
	if err := s.start(); err != nil {
		return err
	}
	s.say("the service is there again, and the customer asks again")
	if err := s.order(ctx, pen("req-2")); err != nil {
		return err
	}
	s.say("the number 2 went with the crash: a sequence gives none twice")
	return s.count(ctx)
}

func (s *shop) killedAfterTheCommit(ctx context.Context) error {
	s.title("The service is killed right after the commit, before the customer has heard of it.")
	conn, err := s.send(ctx, pen("req-3"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // of which nothing is read
	if err := s.await(ctx, "SELECT EXISTS (SELECT FROM orders WHERE request_id = 'req-3')"); err != nil {
		return err
	}
	if err := s.service.kill(); err != nil {
		return err
	}
	s.say("req-3: no answer")
	if err := s.count(ctx); err != nil {
		return err
	}
	if err := s.start(); err != nil {
		return err
	}
	s.say("the service is there again, and the customer asks again")
	return errors.Join(s.order(ctx, pen("req-3")), s.count(ctx))
}

// send makes a request and does not look at the answer.
func (s *shop) send(ctx context.Context, req orders.Request) (net.Conn, error) {
	address, err := url.Parse(s.address())
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address.Host)
	if err != nil {
		return nil, err
	}
	if err := r.Write(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func (s *shop) soldOut(ctx context.Context) error {
	s.title("A refusal is an outcome, too (//idem:final): a retry is refused, even if there are goods again.")
	if err := s.order(ctx, globe("req-4")); err != nil {
		return err
	}
	if _, err := s.db.pool.Exec(ctx, "UPDATE stock SET quantity = quantity + 5 WHERE item = 'globe'"); err != nil {
		return err
	}
	s.say("five globes arrive")
	return errors.Join(s.order(ctx, globe("req-4")), s.order(ctx, globe("req-5")), s.count(ctx))
}

func (s *shop) killedUnderLoad(ctx context.Context) error {
	const customers, each, kills = 8, 25, 4
	s.title(fmt.Sprintf("%d customers place %d orders each, while the service is killed %d times.", customers, each, kills))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answered := make(chan struct{}, customers*each)
	var all sync.WaitGroup
	for i := range customers {
		all.Go(func() {
			for j := range each {
				if _, _, err := s.place(ctx, pen(fmt.Sprintf("load-%d-%d", i, j))); err != nil {
					cancel(err)
					return
				}
				answered <- struct{}{}
			}
		})
	}
	for n := range customers * each {
		select {
		case <-answered:
		case <-ctx.Done():
			all.Wait()
			return context.Cause(ctx)
		}
		if n%(customers*each/(kills+1)) == 0 && n > 0 {
			if err := errors.Join(s.service.kill(), s.start()); err != nil {
				cancel(err)
			}
		}
	}
	all.Wait()
	s.say("customers with an answer to each of their requests: %d", customers)
	return s.count(ctx)
}
