package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/idemgen/idem/examples/orders/orders"
)

// A shop is the service, which runs in a process of its own, and those who
// stand around it: its database, its customers, and the company that delivers
// its mail.
type shop struct {
	out     io.Writer
	db      *database
	mail    *mailServer
	service *process
	env     []string // of processes

	mu      sync.Mutex
	url     string                           // of the service
	answers map[orders.Request]*orders.Order // that customers got; nil: sold out
}

func openShop(ctx context.Context, db *database, out io.Writer) (*shop, error) {
	_, err := db.pool.Exec(ctx, `INSERT INTO stock (item, quantity) VALUES ('pen', $1), ('globe', 1)`, pens)
	if err != nil {
		return nil, err
	}
	mail, err := newMailServer()
	if err != nil {
		return nil, err
	}
	s := &shop{
		out: out, db: db, mail: mail, answers: map[orders.Request]*orders.Order{},
		env: []string{databaseEnv + "=" + db.url, mailEnv + "=" + mail.url},
	}
	if err := s.start(); err != nil {
		return nil, errors.Join(err, mail.close())
	}
	return s, nil
}

func (s *shop) close() error { return errors.Join(s.service.stop(), s.mail.close()) }

// start starts a process of the service.
func (s *shop) start() error {
	p, err := start("serve", s.env...)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.service, s.url = p, "http://"+p.said+"/orders"
	return nil
}

func (s *shop) address() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.url
}

// errTryAgain is an attempt without an answer.
var errTryAgain = errors.New("no answer")

// attempt asks the service once. The order is nil if the goods are sold out.
func (s *shop) attempt(ctx context.Context, req orders.Request) (order *orders.Order, outcome string, err error) {
	body, err := json.Marshal(req)
	if err != nil {
		return nil, "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address(), bytes.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", errTryAgain, err)
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		order = new(orders.Order)
		if err := json.NewDecoder(response.Body).Decode(order); err != nil {
			return nil, "", fmt.Errorf("%w: %w", errTryAgain, err)
		}
	case http.StatusConflict:
	case http.StatusServiceUnavailable:
		return nil, "", fmt.Errorf("%w: %s", errTryAgain, response.Status)
	default:
		text, err := io.ReadAll(response.Body)
		return nil, "", errors.Join(fmt.Errorf("%s: %s", response.Status, text), err)
	}
	return order, response.Header.Get(orders.OutcomeHeader), nil
}

// place is what a customer does: it makes the same request until it has an
// answer.
func (s *shop) place(ctx context.Context, req orders.Request) (order *orders.Order, outcome string, err error) {
	for {
		order, outcome, err = s.attempt(ctx, req)
		if !errors.Is(err, errTryAgain) {
			break
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return nil, "", ctx.Err()
		}
	}
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.answers[req] = order
	}
	return order, outcome, err
}

// await asks the database until the answer to a question is yes.
func (s *shop) await(ctx context.Context, question string, args ...any) error {
	for {
		var yes bool
		if err := s.db.pool.QueryRow(ctx, question, args...).Scan(&yes); err != nil || yes {
			return err
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
