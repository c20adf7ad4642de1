package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

// A contender is a way to run a call once per key, in first executions of keys
// of their own, and in replays.
type contender struct {
	name   string
	first  runner
	replay runner // or nil
}

// A runner makes calls for a time.
type runner func(callers int, each time.Duration) (measure, error)

// An opener is ready for a number of callers, and returns what makes one call.
type opener func(callers int) (call func(caller, i int) error, done func(), err error)

// runs makes a runner of an opener.
func (b *bench) runs(open opener) runner {
	return func(callers int, each time.Duration) (measure, error) { return b.once(open, callers, each) }
}

// A bench is one server and what is measured on it.
type bench struct {
	dsn    string
	table  string
	admin  *pgxpool.Pool
	result []byte
	run    atomic.Int64 // makes the keys of each run its own
}

const (
	replayKeys = 1000
	lease      = 30 * time.Second
	ttl        = 24 * time.Hour
)

func (b *bench) key(prefix string, caller, i int) string {
	return "payments.Charge/" + prefix + "/cus_" + strconv.Itoa(caller) + "/order-" + strconv.Itoa(i)
}

func (b *bench) prefix() string { return strconv.FormatInt(b.run.Add(1), 36) }

// pool returns a pool with a connection for each caller, all open.
func (b *bench) pool(size int) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(b.dsn)
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(size)
	config.MinConns = int32(size)
	return pgxpool.NewWithConfig(context.Background(), config)
}

// threeStatements is what teams write by hand: look, insert, update.
func (b *bench) threeStatements() contender {
	const (
		look   = `SELECT state, result FROM by_hand WHERE key = $1`
		insert = `INSERT INTO by_hand (key, state, claimed_at, expires_at) VALUES ($1, 'pending', now(), now() + $2::interval) ON CONFLICT (key) DO NOTHING`
		update = `UPDATE by_hand SET state = 'completed', result = $2, expires_at = now() + $3::interval WHERE key = $1`
	)
	ctx := context.Background()
	return contender{
		name: "three statements",
		first: b.runs(func(callers int) (func(int, int) error, func(), error) {
			pool, err := b.pool(callers)
			if err != nil {
				return nil, nil, err
			}
			prefix := b.prefix()
			return func(caller, i int) error {
				key := b.key(prefix, caller, i)
				var state string
				var result []byte
				rows, err := pool.Query(ctx, look, key)
				if err != nil {
					return err
				}
				for rows.Next() {
					if err := rows.Scan(&state, &result); err != nil {
						return err
					}
				}
				if err := rows.Err(); err != nil {
					return err
				}
				if tag, err := pool.Exec(ctx, insert, key, lease); err != nil || tag.RowsAffected() != 1 {
					return errors.Join(err, fmt.Errorf("inserted %d rows", tag.RowsAffected()))
				}
				_, err = pool.Exec(ctx, update, key, b.result, ttl)
				return err
			}, pool.Close, nil
		}),
	}
}

func (b *bench) options() []postgres.Option { return []postgres.Option{postgres.WithTable(b.table)} }

// grouped is the backend as a service uses it.
func (b *bench) grouped() contender {
	open := func(int) (func(int) idem.Backend, func(), error) {
		pool, err := b.pool(16)
		if err != nil {
			return nil, nil, err
		}
		backend := postgres.New(pool, b.options()...)
		return func(int) idem.Backend { return backend }, func() { backend.Close(); pool.Close() }, nil
	}
	return b.backend("idem", open)
}

// single is the backend without grouping: each caller has a connection, and a
// backend, of its own.
func (b *bench) single() contender {
	open := func(callers int) (func(int) idem.Backend, func(), error) {
		pool, err := b.pool(callers)
		if err != nil {
			return nil, nil, err
		}
		backends := make([]idem.Backend, callers)
		conns := make([]*pgxpool.Conn, callers)
		for i := range backends {
			if conns[i], err = pool.Acquire(context.Background()); err != nil {
				return nil, nil, err
			}
			backends[i] = postgres.New(conns[i].Conn(), b.options()...)
		}
		return func(caller int) idem.Backend { return backends[caller] }, func() {
			for _, c := range conns {
				c.Release()
			}
			pool.Close()
		}, nil
	}
	return b.backend("idem, not grouped", open)
}

func (b *bench) backend(name string, open func(callers int) (func(caller int) idem.Backend, func(), error)) contender {
	ctx := context.Background()
	return contender{
		name: name,
		first: b.runs(func(callers int) (func(int, int) error, func(), error) {
			of, done, err := open(callers)
			if err != nil {
				return nil, nil, err
			}
			prefix := b.prefix()
			return func(caller, i int) error { return execute(ctx, of(caller), b.key(prefix, caller, i), b.result) }, done, nil
		}),
		replay: b.runs(func(callers int) (func(int, int) error, func(), error) {
			of, done, err := open(callers)
			if err != nil {
				return nil, nil, err
			}
			return func(caller, i int) error {
				key := b.key("replayed", 0, (caller*7919+i)%replayKeys)
				got, err := of(caller).Claim(ctx, request(key))
				if err == nil && got.Status != idem.ClaimCompleted {
					err = fmt.Errorf("%s: status %d, want completed", key, got.Status)
				}
				return err
			}, done, nil
		}),
	}
}

// execute is a first execution whose method takes no time.
func execute(ctx context.Context, backend idem.Backend, key string, result []byte) error {
	got, err := backend.Claim(ctx, request(key))
	if err != nil {
		return err
	}
	if got.Status != idem.ClaimWon {
		return fmt.Errorf("%s: status %d, want won", key, got.Status)
	}
	held, err := backend.Complete(ctx, idem.Completion{Key: key, Fence: got.Record.Fence, Result: result, TTL: ttl})
	if err != nil {
		return err
	}
	if !held {
		return fmt.Errorf("%s: the claim was lost", key)
	}
	return nil
}

func request(key string) idem.ClaimRequest {
	r := idem.ClaimRequest{
		Key: key, Fingerprint: fingerprint, Lease: lease, Retention: ttl, Takeover: true,
	}
	_, _ = rand.Read(r.Owner[:]) // never fails
	return r
}

var fingerprint = []byte("\x01\x00 16 bytes of hash")
