package idemtest

import (
	"fmt"
	"sync"

	idem "github.com/idemgen/idem/runtime"
)

func sweepDeletesWhatExpired(t *trial) {
	t.sweep("of nothing", 10, 0, 0)
	retained := t.request("lapsed but retained")
	retained.Lease = t.short
	t.claim("the owner", retained, idem.ClaimWon)
	renewed := t.request("renewed beyond its retention")
	renewed.Lease, renewed.Retention = t.short, t.ample
	r := t.claim("the owner", renewed, idem.ClaimWon).Record
	t.extend("the holder", renewed.Key, r.Fence, t.long, true)
	t.win("live")
	t.finish("kept", nil, t.long)
	kept := []string{retained.Key, renewed.Key, "live", "kept"}
	t.sweep("before anything expired", 10, 0, 0)

	t.finish("expired", nil, t.short)
	q := t.request("expired pending")
	q.Lease, q.Retention = t.short, 0
	t.claim("the owner", q, idem.ClaimWon)
	t.pass()
	t.wait(t.ample)
	t.sweep("after two records expired", 10, 2, 2)
	t.sweep("again", 10, 0, 0)
	for _, key := range kept {
		t.lookup(fmt.Sprintf("of %q after sweeping", key), key)
	}
	t.absent("after sweeping", "expired")
	t.absent("after sweeping", "expired pending")
}

func sweepKeepsToItsLimit(t *trial) {
	const expired, limit = 50, 7
	var expire, keep []string
	for i := range expired {
		expire = append(expire, fmt.Sprint("expired", i))
		keep = append(keep, fmt.Sprint("kept", i))
	}
	t.finishAll(expire, t.short)
	t.finishAll(keep, t.long)
	t.pass()
	t.sweep("with no room", 0, 0, 0)
	for left := expired; left > 0 && t.err == nil; {
		left -= t.sweep(fmt.Sprintf("with %d expired records left", left), limit, min(left, limit), min(left, limit))
	}
	t.sweep("when all are gone", limit, 0, 0)
	for _, key := range keep {
		t.lookup("after sweeping", key)
	}
}

// sweepBesideClaims claims expired keys anew while they are swept, and wants
// every claim to be there at the end.
func sweepBesideClaims(t *trial) {
	const rounds, claimers, each = 4, 16, 16
	for round := range rounds {
		key := func(claimer, i int) string { return fmt.Sprint("k", round, "/", claimer, "/", i) }
		var keys []string
		for claimer := range claimers {
			for i := range each {
				keys = append(keys, key(claimer, i))
			}
		}
		t.finishAll(keys, t.short)
		t.pass()
		if t.err != nil {
			return
		}

		claimed := make(chan struct{})
		swept := make(chan error, 1)
		go func() {
			for {
				_, err := t.backend.Sweep(t.ctx, 20)
				select {
				case <-claimed:
					swept <- err
					return
				default:
				}
				if err != nil {
					swept <- err
					return
				}
			}
		}()
		var requests [claimers][each]idem.ClaimRequest
		var fences [claimers][each]idem.Fence
		for claimer := range claimers {
			for i := range each {
				requests[claimer][i] = t.request(key(claimer, i))
			}
		}
		var group sync.WaitGroup
		errs := make(chan error, claimers*each)
		for claimer := range claimers {
			group.Go(func() {
				for i, q := range requests[claimer] {
					got, err := t.backend.Claim(t.ctx, q)
					if err != nil {
						errs <- err
					} else if got.Status != idem.ClaimWon {
						errs <- fmt.Errorf("got %s, want won", statusName(got.Status))
					}
					fences[claimer][i] = got.Record.Fence
				}
			})
		}
		group.Wait()
		close(claimed)
		if err := <-swept; err != nil {
			t.failf("sweep beside claims: %w", err)
		}
		close(errs)
		for err := range errs {
			t.failf("claim of an expired key beside a sweep: %w", err)
		}
		for claimer := range claimers {
			for i := range each {
				r := t.lookup("of a claim made beside a sweep", key(claimer, i))
				same(t, "Fence of a claim made beside a sweep", r.Fence, fences[claimer][i])
			}
		}
	}
}
