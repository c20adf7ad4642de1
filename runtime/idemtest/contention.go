package idemtest

import (
	"errors"
	"slices"
	"sync"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

const claimants = 50

// contend sends all requests at once and returns the answers in their order.
func (t *trial) contend(requests []idem.ClaimRequest) []idem.ClaimResult {
	results := make([]idem.ClaimResult, len(requests))
	if t.err != nil {
		return results
	}
	errs := make([]error, len(requests))
	start := make(chan struct{})
	var group sync.WaitGroup
	for i, q := range requests {
		group.Go(func() {
			<-start
			results[i], errs[i] = t.backend.Claim(t.ctx, q)
		})
	}
	close(start)
	group.Wait()
	for _, err := range errs {
		if err != nil {
			t.failf("claim beside others: %w", err)
		}
	}
	return results
}

// finishAll wins and completes all keys, many at once.
func (t *trial) finishAll(keys []string, ttl time.Duration) {
	requests := make([]idem.ClaimRequest, len(keys))
	for i, key := range keys {
		requests[i] = t.request(key)
	}
	won := t.contend(requests)
	if t.err != nil {
		return
	}
	held, errs := make([]bool, len(keys)), make([]error, len(keys))
	var group sync.WaitGroup
	for i, key := range keys {
		group.Go(func() {
			c := idem.Completion{Key: key, Fence: won[i].Record.Fence, TTL: ttl}
			held[i], errs[i] = t.backend.Complete(t.ctx, c)
		})
	}
	group.Wait()
	for i, err := range errs {
		t.held("complete beside others", held[i], err, true)
	}
}

// oneWins lets many claim key at once and wants one to win and the others to
// see its claim.
func (t *trial) oneWins(what, key string, change func(*idem.ClaimRequest)) idem.Record {
	requests := make([]idem.ClaimRequest, claimants)
	for i := range requests {
		requests[i] = t.request(key)
		if change != nil {
			change(&requests[i])
		}
	}
	results := t.contend(requests)
	winners := 0
	var winner idem.ClaimResult
	for _, got := range results {
		if got.Status == idem.ClaimWon {
			winners++
			winner = got
		}
	}
	if winners != 1 {
		t.failf("%d of %d claimants won %s, want one", winners, claimants, what)
	}
	for _, got := range results {
		if got.Status != idem.ClaimWon && (got.Status != idem.ClaimPending || got.Record.Fence != winner.Record.Fence) {
			t.failf("a loser of %s got %s with fence %d, want pending with the winner's fence %d",
				what, statusName(got.Status), got.Record.Fence, winner.Record.Fence)
		}
	}
	t.complete("the winner of "+what, idem.Completion{Key: key, Fence: winner.Record.Fence, TTL: t.long}, true)
	return winner.Record
}

func oneWinsAbsent(t *trial) {
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		r := t.oneWins("an absent key", key, nil)
		same(t, "Attempt", r.Attempt, 1)
	}
}

func oneWinsLapsed(t *trial) {
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		t.winShort(key)
		t.pass()
		r := t.oneWins("a lapsed key", key, nil)
		same(t, "Attempt", r.Attempt, 2)
	}
}

func oneWinsExpired(t *trial) {
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		t.finish(key, []byte("expired"), t.short)
		t.pass()
		r := t.oneWins("an expired key", key, nil)
		same(t, "Attempt", r.Attempt, 1)
	}
}

func oneReplaces(t *trial) {
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		seen := t.win(key)
		r := t.oneWins("a record seen by many", key, func(q *idem.ClaimRequest) { q.Replace = seen.Fence })
		same(t, "Attempt", r.Attempt, 2)
	}
}

// holderRacesWithTakeover lets a lapsed holder settle or renew its claim while
// another takes over: whichever comes first, the other must see it.
func holderRacesWithTakeover(t *trial) {
	for round := range 10 {
		t.race(round, "completion", idem.ClaimCompleted, func(f idem.Fence) (bool, error) {
			return t.backend.Complete(t.ctx, idem.Completion{Key: "k", Fence: f, TTL: t.long})
		})
		t.race(round, "extension", idem.ClaimPending, func(f idem.Fence) (bool, error) {
			held, err := t.backend.Extend(t.ctx, []idem.Extension{{Key: "k", Fence: f, Lease: t.long}})
			return slices.Equal(held, []bool{true}), err
		})
		t.race(round, "release", idem.ClaimWon, func(f idem.Fence) (bool, error) {
			return t.backend.Release(t.ctx, "k", f)
		})
	}
}

// race runs act beside a takeover, which gets want if it sees that act came
// first. A takeover that comes first wins the second attempt.
func (t *trial) race(round int, what string, want idem.ClaimStatus, act func(idem.Fence) (bool, error)) {
	old := t.winShort("k")
	t.pass()
	if t.err != nil {
		return
	}
	q := t.request("k")
	var held bool
	var got idem.ClaimResult
	var actErr, claimErr error
	together(round,
		func() { held, actErr = act(old.Fence) },
		func() { got, claimErr = t.backend.Claim(t.ctx, q) },
	)
	if err := errors.Join(actErr, claimErr); err != nil {
		t.failf("a late %s beside a takeover: %w", what, err)
	}
	attempt := 2
	if held {
		attempt = 1
	} else {
		want = idem.ClaimWon
	}
	if got.Status != want || got.Record.Attempt != attempt {
		t.failf("a late %s (held %v) beside a takeover: it got %s and attempt %d, want %s and attempt %d",
			what, held, statusName(got.Status), got.Record.Attempt, statusName(want), attempt)
	}
	t.release("an operator", "k", t.lookup("after the race", "k").Fence, true)
}

// together runs two functions at once. Rounds differ in which is likely to
// come first.
func together(round int, a, b func()) {
	if round%2 == 1 {
		a, b = b, a
	}
	start := make(chan struct{})
	var group sync.WaitGroup
	for _, f := range []func(){a, b} {
		group.Go(func() {
			<-start
			f()
		})
	}
	close(start)
	group.Wait()
}
