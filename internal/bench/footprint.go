package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

// footprint prints what a large number of keys costs in memory, and how long
// claims take while half of the keys, which have expired, are swept.
func footprint(w io.Writer, keys int) error {
	ctx := context.Background()
	backend := memory.New()
	before := heap()
	fill := func(from, to int, ttl time.Duration) error {
		for i := from; i < to; i++ {
			key := fmt.Sprintf("payments.Charge/cus_9/order-%d", i)
			claim, err := backend.Claim(ctx, idem.ClaimRequest{Key: key, Owner: idem.Owner{1}, Lease: time.Minute, Retention: ttl})
			if err != nil {
				return err
			}
			if _, err := backend.Complete(ctx, idem.Completion{Key: key, Fence: claim.Record.Fence, Result: []byte("1v json\n{}"), TTL: ttl}); err != nil {
				return err
			}
		}
		return nil
	}
	if err := fill(0, keys/2, time.Hour); err != nil {
		return err
	}
	if err := fill(keys/2, keys, time.Nanosecond); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d keys in the memory backend: %d bytes a key\n", keys, (heap()-before)/uint64(keys))

	quiet := claims(backend, 0, 20_000, nil)
	swept := make(chan struct{})
	var deleted int
	start := time.Now()
	var took time.Duration
	go func() {
		defer close(swept)
		for {
			n, _ := backend.Sweep(ctx, 1000)
			deleted += n
			if n < 1000 {
				took = time.Since(start)
				return
			}
		}
	}()
	busy := claims(backend, 20_000, 1<<30, swept)
	<-swept
	fmt.Fprintf(w, "claims: p99 %v; during a sweep of %d expired keys, which took %v: p99 %v (%d claims)\n",
		percentile(quiet, 0.99), deleted, took.Round(time.Millisecond), percentile(busy, 0.99), len(busy))
	return nil
}

// claims makes new claims until done is closed, or up to the number to, and
// returns how long each took, sorted.
func claims(backend idem.Backend, from, to int, done <-chan struct{}) []time.Duration {
	var times []time.Duration
	for i := from; i < to; i++ {
		select {
		case <-done:
			i = to
		default:
		}
		start := time.Now()
		request := idem.ClaimRequest{
			Key: fmt.Sprintf("payments.Refund/cus_9/order-%d", i), Owner: idem.Owner{2}, Lease: time.Minute, Retention: time.Hour,
		}
		if _, err := backend.Claim(context.Background(), request); err != nil {
			panic(err) // the memory backend answers every claim
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return times
}

func heap() uint64 {
	// What the first collection finalizes, and what pools let go of, is freed
	// by the second and the third.
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
