package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/idemgen/idem/examples/orders/orders"
)

// A mailServer stands for the company that delivers mail. Like most, it knows
// a mail again by the idempotency key that it was sent with, and delivers it
// once.
type mailServer struct {
	url   string
	close func() error

	mu        sync.Mutex
	requests  int
	delivered map[string]bool // by key
	silent    chan struct{}   // if it is not nil: closed by the next request, which gets no answer
}

func newMailServer() (*mailServer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &mailServer{url: "http://" + listener.Addr().String(), delivered: map[string]bool{}}
	server := &http.Server{Handler: m, ReadHeaderTimeout: time.Second}
	m.close = server.Close
	go func() { _ = server.Serve(listener) }()
	return m, nil
}

// ServeHTTP implements http.Handler.
func (m *mailServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	m.mu.Lock()
	m.requests++
	m.delivered[r.Header.Get("Idempotency-Key")] = true
	silent := m.silent
	m.silent = nil
	m.mu.Unlock()
	if silent != nil {
		close(silent)
		<-r.Context().Done() // until the sender is gone
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// silence has the next mail delivered, but leaves its sender without an answer.
// The channel is closed when that has happened.
func (m *mailServer) silence() <-chan struct{} {
	silent := make(chan struct{})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.silent = silent
	return silent
}

func (m *mailServer) counts() (requests, delivered int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests, len(m.delivered)
}

// mailTo returns what hands messages to the mail server at url.
func mailTo(url string) func(context.Context, orders.Message) error {
	return func(ctx context.Context, m orders.Message) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(m.Text))
		if err != nil {
			return err
		}
		r.Header.Set("To", m.Recipient)
		r.Header.Set("Idempotency-Key", m.ID)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		if response.StatusCode != http.StatusAccepted {
			err = fmt.Errorf("the mail server answers %s", response.Status)
		}
		return errors.Join(err, response.Body.Close())
	}
}
