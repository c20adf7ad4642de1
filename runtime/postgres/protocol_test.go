package postgres

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
)

// single makes a pool that has one connection, so that statements are
// prepared once.
func single(c *pgxpool.Config) { c.MaxConns = 1 }

func TestRoundTrips(t *testing.T) {
	proxy, dsn := pgtest.ProxyTo(t, pgtest.DSN(t))
	b := open(t, dsn, single)
	trips := func(what string, want int, f func()) {
		t.Helper()
		before := proxy.Trips()
		f()
		if got := proxy.Trips() - before; got != want {
			t.Errorf("%s: %d round trips, want %d", what, got, want)
		}
	}
	b.complete("warm", b.win("warm"), "up") // prepares the statements
	b.release("warm", b.win("warm up"))
	b.lookup("warm")
	b.extend("warm", 0, time.Minute)
	b.sweep(1)

	trips("first execution", 2, func() { b.complete("k", b.win("k"), "done") })
	trips("replay", 1, func() { b.claim(request("k")) })
	b.win("held")
	trips("contention", 1, func() { b.claim(request("held")) })
	waiting := request("held")
	waiting.Waiting = true
	trips("contention with a waiter", 1, func() { b.claim(waiting) })
	b.pass(2 * time.Minute)
	trips("takeover", 1, func() {
		if got := b.claim(request("held")); !got.TakenOver {
			t.Errorf("%+v", got)
		}
	})
	trips("lookup", 1, func() { b.lookup("k") })
	trips("release", 1, func() { b.release("held", b.fence("held")) })
	x := make([]idem.Extension, 500)
	for i := range x {
		x[i] = idem.Extension{Key: fmt.Sprint("k", i), Fence: 1, Lease: time.Minute}
	}
	trips("500 heartbeats", 1, func() {
		if _, err := b.Extend(t.Context(), x); err != nil {
			t.Error(err)
		}
	})
	trips("sweep", 1, func() { b.sweep(100) })
}

// A replay reads. The server itself writes now and then, so the least of a few
// attempts counts.
func TestReplaysWriteNoWAL(t *testing.T) {
	b := open(t, pgtest.DSN(t))
	const keys, rounds, callers = 100, 10, 10
	for i := range keys {
		key := fmt.Sprint("k", i)
		b.complete(key, b.win(key), "done")
	}
	b.exec("VACUUM idem_records")
	least := int64(1)
	for attempt := 0; attempt < 5 && least > 0; attempt++ {
		before := b.number("SELECT (pg_current_wal_insert_lsn() - '0/0')::int8")
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				for range rounds {
					for i := range keys {
						got, err := b.Claim(t.Context(), request(fmt.Sprint("k", i)))
						if err != nil || got.Status != idem.ClaimCompleted {
							t.Errorf("%+v, %v", got, err)
						}
					}
				}
			})
		}
		wg.Wait()
		wal := b.number("SELECT (pg_current_wal_insert_lsn() - '0/0')::int8") - before
		if attempt == 0 || wal < least {
			least = wal
		}
	}
	if least != 0 {
		t.Errorf("%d replays wrote %d bytes of WAL", keys*rounds*callers, least)
	}
}

// A replay takes no lock: it passes where the row is locked by somebody else.
func TestReplaysPassLockedRows(t *testing.T) {
	b := open(t, pgtest.DSN(t))
	b.complete("k", b.win("k"), "done")
	tx, err := b.direct.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	if _, err := tx.Exec(t.Context(), b.names.render("SELECT FROM idem_records FOR UPDATE")); err != nil {
		t.Fatal(err)
	}
	if got := b.claim(request("k")); got.Status != idem.ClaimCompleted {
		t.Errorf("%+v", got)
	}
}
