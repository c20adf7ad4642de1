package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/postgres"
)

// upkeep measures what the table costs in the long run: its size after so many
// executions and replays, a sweep of them all beside other calls, heartbeats,
// and how long a waiter of another process sleeps on.
func (b *bench) upkeep(w io.Writer, executions int) error {
	ctx := context.Background()
	pool, err := b.pool(8)
	if err != nil {
		return err
	}
	defer pool.Close()
	backend := postgres.New(pool, b.options()...)
	defer backend.Close()
	if _, err := b.admin.Exec(ctx, `TRUNCATE idem_bench`); err != nil {
		return err
	}
	const callers = 128
	prefix := b.prefix()
	each := executions / callers
	calls := func(claimed func(key string) error) error {
		_, err := driveCount(callers, each, func(caller, i int) error { return claimed(b.key(prefix, caller, i)) })
		return err
	}
	if err := calls(func(key string) error { return execute(ctx, backend, key, b.result) }); err != nil {
		return err
	}
	if err := calls(func(key string) error { _, err := backend.Claim(ctx, request(key)); return err }); err != nil {
		return err
	}
	fmt.Fprintf(w, "after %d executions and as many replays\n", each*callers)
	if err := b.size(w); err != nil {
		return err
	}
	if _, err := b.admin.Exec(ctx, `VACUUM idem_bench`); err != nil {
		return err
	}
	fmt.Fprintln(w, "after a vacuum")
	if err := b.size(w); err != nil {
		return err
	}
	if err := b.sweepBeside(w, backend); err != nil {
		return err
	}
	if err := b.beat(w, backend); err != nil {
		return err
	}
	return b.wake(w)
}

// size prints what the table takes on the disk. It waits for the counts of
// the connections that were used.
func (b *bench) size(w io.Writer) error {
	var heap, indexes, updated, hot, dead int64
	err := b.admin.QueryRow(context.Background(), `SELECT pg_table_size(relid), pg_indexes_size(relid), n_tup_upd, n_tup_hot_upd, n_dead_tup
		FROM pg_stat_user_tables WHERE relname = 'idem_bench'`).Scan(&heap, &indexes, &updated, &hot, &dead)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "  table %d MB, indexes %d MB, %.0f%% of updates HOT, %d dead rows\n",
		heap>>20, indexes>>20, 100*float64(hot)/float64(max(updated, 1)), dead)
	return nil
}

// sweepBeside lets all records expire and sweeps them, beside first
// executions.
func (b *bench) sweepBeside(w io.Writer, backend *postgres.Backend) error {
	ctx := context.Background()
	const callers, calm = 8, 3 * time.Second
	prefix := b.prefix()
	call := func(caller, i int) error { return execute(ctx, backend, b.key(prefix, caller, i), b.result) }
	before, err := drive(callers, calm, call)
	if err != nil {
		return err
	}
	if _, err := b.admin.Exec(ctx, `UPDATE idem_bench SET expires_at = now(), sweep_at = now()`); err != nil {
		return err
	}
	if _, err := b.admin.Exec(ctx, `VACUUM idem_bench`); err != nil {
		return err
	}
	start := time.Now()
	swept, took := 0, time.Duration(0)
	failed := make(chan error, 1)
	go func() {
		for {
			n, err := backend.Sweep(ctx, 1000)
			swept += n
			if err != nil || n == 0 {
				took = time.Since(start)
				failed <- err
				return
			}
		}
	}()
	prefix = b.prefix()
	var during []measure
	for sweeping := true; sweeping; {
		m, err := drive(callers, time.Second, call)
		if err != nil {
			return err
		}
		during = append(during, m)
		prefix = b.prefix()
		select {
		case err := <-failed:
			if err != nil {
				return err
			}
			sweeping = false
		default:
		}
	}
	m := median(during)
	fmt.Fprintf(w, "a sweep of %d rows took %v; p99 of %d callers beside it %s, without it %s: %.2f (≤ 2)\n",
		swept, took.Round(time.Millisecond), callers, short(m.p99), short(before.p99), float64(m.p99)/float64(before.p99))
	return nil
}

// beat renews 500 claims at a time.
func (b *bench) beat(w io.Writer, backend *postgres.Backend) error {
	ctx := context.Background()
	x := make([]idem.Extension, 500)
	for i := range x {
		key := b.key("beating", 0, i)
		got, err := backend.Claim(ctx, request(key))
		if err != nil {
			return err
		}
		x[i] = idem.Extension{Key: key, Fence: got.Record.Fence, Lease: lease}
	}
	m, err := driveCount(1, 50, func(int, int) error { _, err := backend.Extend(ctx, x); return err })
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "a heartbeat for %d claims: p50 %s\n", len(x), short(m.p50))
	return nil
}

// wake measures the time from a completion to the moment at which a waiter of
// another backend wakes, in round trips like the one by which it then gets the
// result.
func (b *bench) wake(w io.Writer) error {
	ctx := context.Background()
	pools := make([]*postgres.Backend, 2)
	for i := range pools {
		pool, err := b.pool(2)
		if err != nil {
			return err
		}
		defer pool.Close()
		pools[i] = postgres.New(pool, b.options()...)
		defer pools[i].Close()
	}
	holder, waiter := pools[0], pools[1]
	changed, stop := waiter.Watch("warm")
	<-changed
	stop()
	prefix := b.prefix()
	var slept, trips []time.Duration
	for i := range 200 {
		key := b.key(prefix, 0, i)
		won, err := holder.Claim(ctx, request(key))
		if err != nil {
			return err
		}
		changed, stop := waiter.Watch(key)
		r := request(key)
		r.Waiting = true
		if _, err := waiter.Claim(ctx, r); err != nil {
			return err
		}
		if _, err := holder.Complete(ctx, idem.Completion{Key: key, Fence: won.Record.Fence, Result: b.result, TTL: ttl}); err != nil {
			return err
		}
		completed := time.Now()
		<-changed
		woken := time.Now()
		if got, err := waiter.Claim(ctx, r); err != nil || got.Status != idem.ClaimCompleted {
			return fmt.Errorf("a waiter who woke got status %d, %w", got.Status, err)
		}
		slept, trips = append(slept, woken.Sub(completed)), append(trips, time.Since(woken))
		stop()
	}
	slices.Sort(slept)
	slices.Sort(trips)
	p50, trip := slept[len(slept)/2], trips[len(trips)/2]
	fmt.Fprintf(w, "a waiter of another process wakes %s (p50) after the completion: %.1f round trips (≤ 2)\n",
		short(p50), float64(p50)/float64(trip))
	return nil
}
