package postgres

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
)

// Callers leave in the middle of their requests by the thousand, and no
// connection is lost by it.
func TestFault15CancelledCallsKeepTheConnections(t *testing.T) {
	proxy, dsn := pgtest.ProxyTo(t, pgtest.DSN(t))
	pool := openPool(t, dsn, func(c *pgxpool.Config) { c.MaxConns, c.MinConns = 8, 8 })
	b := openOn(t, pool)
	var warm sync.WaitGroup
	for range 64 {
		warm.Go(func() { b.lookup("k") })
	}
	warm.Wait()
	connections := pool.Stat().NewConnsCount()

	proxy.Delay(time.Millisecond)
	calls := []func(context.Context) error{
		func(ctx context.Context) error { _, err := b.Claim(ctx, request("k")); return err },
		func(ctx context.Context) error { _, err := b.Complete(ctx, idem.Completion{Key: "k"}); return err },
		func(ctx context.Context) error { _, err := b.Release(ctx, "k", 1); return err },
		func(ctx context.Context) error { _, err := b.Extend(ctx, []idem.Extension{{Key: "k"}}); return err },
		func(ctx context.Context) error { _, _, err := b.Lookup(ctx, "k"); return err },
		func(ctx context.Context) error { _, err := b.Sweep(ctx, 1); return err },
	}
	var callers sync.WaitGroup
	for i := range 1000 {
		ctx, cancel := context.WithCancel(t.Context())
		callers.Go(func() {
			if err := calls[i%len(calls)](ctx); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		callers.Go(cancel)
	}
	callers.Wait()
	proxy.Delay(0)
	b.lookup("k")
	if n := pool.Stat().NewConnsCount() - connections; n > 8 {
		t.Errorf("%d connections were opened in place of others", n)
	}
	if n := pool.Stat().CanceledAcquireCount(); n != 0 {
		t.Errorf("%d waits for a connection were cancelled", n)
	}
	if proxy.Accepted() > 8 {
		t.Errorf("%d connections were opened", proxy.Accepted())
	}
}

// The server goes down and comes back: the next request finds out, and goes
// again on a connection that works.
func TestConnectionsThatBrokeAreReplaced(t *testing.T) {
	proxy, dsn := pgtest.ProxyTo(t, pgtest.DSN(t))
	b := open(t, dsn, single)
	fence := b.win("k")
	proxy.Cut()
	if !b.complete("k", fence, "done") {
		t.Error("not held")
	}
	proxy.Refuse(true)
	if _, err := b.Claim(t.Context(), request("k")); err == nil {
		t.Error("a claim succeeded without a server")
	}
	proxy.Refuse(false)
	if got := b.claim(request("k")); got.Status != idem.ClaimCompleted {
		t.Errorf("%+v", got)
	}
}

// Fault 24: behind a pooler, what listens hears nothing, and finds that out.
func TestFault24NobodyListensBehindAPooler(t *testing.T) {
	dsn := pgtest.PgBouncer(t, pgtest.DSN(t))
	b := open(t, dsn, mode(pgx.QueryExecModeExec))
	changed, stop := b.Watch("k")
	defer stop()
	if _, open := <-changed; open {
		t.Error("woken, although nothing changed")
	}
	if changed, stop := b.Watch("k"); changed != nil {
		stop()
		t.Error("a second waiter was promised to be woken")
	}
}

// Fault 29: storage is down only while the result is recorded. The caller gets
// the result, so do those who retry meanwhile, and it is recorded later.
func TestFault29ResultOutlivesAnOutage(t *testing.T) {
	proxy, dsn := pgtest.ProxyTo(t, pgtest.DSN(t))
	b := open(t, dsn)
	settled := make(chan struct{})
	store := idem.New(b.Backend, idem.WithObserver(idem.ObserverFunc(func(_ context.Context, e idem.Event) {
		if e.Kind == idem.Settled {
			close(settled)
		}
	})))
	defer store.Close(context.Background())
	runs := 0
	charge := func(context.Context) (string, error) {
		runs++
		proxy.Refuse(true)
		return "charged", nil
	}
	call := idem.Call{Operation: "charge", Key: "k"}
	for range 3 {
		if got, err := idem.Do(t.Context(), store, call, charge); got != "charged" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	proxy.Refuse(false)
	<-settled
	if runs != 1 {
		t.Errorf("the method ran %d times", runs)
	}
	other := idem.New(attach(t, openPool(t, pgtest.DSN(t)), b.direct, b.opts).Backend)
	defer other.Close(context.Background())
	if got, err := idem.Do(t.Context(), other, call, charge); got != "charged" || err != nil || runs != 1 {
		t.Errorf("another process: %q, %v, after %d runs", got, err, runs)
	}
}
