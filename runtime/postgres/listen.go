package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// probeTimeout bounds the wait for the notification by which a connection
	// shows that it can listen. It is far above a round trip.
	probeTimeout = time.Second
	// pollFor is how long nobody tries to listen after an attempt that showed
	// that this cannot be done, and retryAfter after one that failed otherwise.
	pollFor    = 5 * time.Minute
	retryAfter = time.Second
	// listenIdle is how long the connection is kept when nobody waits, and how
	// often it is asked for a sign of life when somebody does.
	listenIdle = 15 * time.Second
)

// errDeaf says that notifications do not reach a connection, as behind a
// pooler that shares connections between transactions.
var errDeaf = errors.New("postgres: the connection cannot listen")

// A listener watches keys on one connection of its own. It connects when the
// first key is watched, and proves the connection by a notification to itself.
// When it has just begun to listen it wakes all who watch, because it may have
// missed something; when it ends it closes their channels.
type listener struct {
	pool    *pgxpool.Pool // nil: nobody can listen
	channel string
	base    context.Context // ends with the listener
	stop    context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	up       bool // a goroutine listens, or tries to
	deafTill time.Time
	watches  map[string]map[chan struct{}]struct{} // by key
}

func newListener(pool *pgxpool.Pool, channel string) *listener {
	l := &listener{pool: pool, channel: channel, watches: make(map[string]map[chan struct{}]struct{})}
	l.base, l.stop = context.WithCancel(context.Background())
	return l
}

func (l *listener) close() {
	l.stop()
	l.running.Wait()
}

// watch begins to watch key, as stored.
func (l *listener) watch(key string) (changed <-chan struct{}, stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pool == nil || l.base.Err() != nil || !l.up && time.Now().Before(l.deafTill) {
		return nil, func() {}
	}
	if !l.up {
		l.up = true
		l.running.Go(l.run)
	}
	c := make(chan struct{}, 1)
	if l.watches[key] == nil {
		l.watches[key] = make(map[chan struct{}]struct{})
	}
	l.watches[key][c] = struct{}{}
	return c, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.watches[key], c)
		if len(l.watches[key]) == 0 {
			delete(l.watches, key)
		}
	}
}

// wake tells those who watch key that its record changed.
func (l *listener) wake(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	signal(l.watches[key])
}

// wakeAll tells everybody that something may have changed.
func (l *listener) wakeAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, watches := range l.watches {
		signal(watches)
	}
}

// signal leaves a word for those who have not taken the last one yet.
func signal(watches map[chan struct{}]struct{}) {
	for c := range watches {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// run listens until nobody watches any more or the connection fails.
func (l *listener) run() {
	err := l.listen()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.up = false
	switch {
	case errors.Is(err, errDeaf):
		l.deafTill = time.Now().Add(pollFor)
	case err != nil:
		l.deafTill = time.Now().Add(retryAfter)
	}
	for key, watches := range l.watches {
		for c := range watches {
			close(c)
		}
		delete(l.watches, key)
	}
}

// listen returns nil if it has listened and may try again.
func (l *listener) listen() error {
	conn, err := l.connect()
	if err != nil {
		return err
	}
	defer l.disconnect(conn)
	l.wakeAll()
	for {
		ctx, cancel := context.WithTimeout(l.base, listenIdle)
		n, err := conn.WaitForNotification(ctx)
		cancel()
		switch {
		case err == nil:
			l.wake(n.Payload)
		case l.base.Err() != nil || !pgconn.Timeout(err):
			return nil
		case l.idle() || !l.alive(conn):
			return nil
		}
	}
}

// idle reports whether nobody watches.
func (l *listener) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.watches) == 0
}

func (l *listener) alive(conn *pgx.Conn) bool {
	ctx, cancel := context.WithTimeout(l.base, probeTimeout)
	defer cancel()
	return conn.Ping(ctx) == nil
}

// connect opens a connection as the pool does, but outside of it, and makes
// sure that what others notify arrives on it.
func (l *listener) connect() (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(l.base, defaultTimeout)
	defer cancel()
	config := l.pool.Config()
	if config.BeforeConnect != nil {
		if err := config.BeforeConnect(ctx, config.ConnConfig); err != nil {
			return nil, err
		}
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return nil, err
	}
	if config.AfterConnect != nil {
		err = config.AfterConnect(ctx, conn)
	}
	if err == nil {
		err = l.probe(ctx, conn)
	}
	if err != nil {
		l.disconnect(conn)
		return nil, err
	}
	return conn, nil
}

// probe begins to listen and waits for a notification that it sends by
// another connection.
func (l *listener) probe(ctx context.Context, conn *pgx.Conn) error {
	channel := pgx.Identifier{l.channel}.Sanitize()
	if _, err := conn.Exec(ctx, "LISTEN "+channel, pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	token := `\probe:` + rand.Text() // no key is stored as this
	err := query(ctx, l.pool, "SELECT pg_notify($1::text, $2::text)::text", []any{l.channel, token},
		func() {}, func(pgx.Rows) error { return nil })
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	for {
		n, err := conn.WaitForNotification(ctx)
		switch {
		case pgconn.Timeout(err):
			return errDeaf
		case err != nil:
			return err
		case n.Payload == token:
			return nil
		}
	}
}

// disconnect closes the connection. Behind a pooler the server's connection
// goes on, so it is told to forget about us.
func (l *listener) disconnect(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.base), probeTimeout)
	defer cancel()
	_, _ = conn.Exec(ctx, "UNLISTEN "+pgx.Identifier{l.channel}.Sanitize(), pgx.QueryExecModeSimpleProtocol)
	_ = conn.Close(ctx)
}
