package idemtest

import (
	"sync"

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

// holderRacesWithTakeover lets a lapsed holder complete while another takes
// over: whichever comes first, the other must see it.
func holderRacesWithTakeover(t *trial) {
	for range 20 {
		old := t.winShort("k")
		t.pass()
		if t.err != nil {
			return
		}
		q := t.request("k")
		start := make(chan struct{})
		var held bool
		var got idem.ClaimResult
		var completeErr, claimErr error
		var group sync.WaitGroup
		group.Go(func() {
			<-start
			held, completeErr = t.backend.Complete(t.ctx,
				idem.Completion{Key: "k", Fence: old.Fence, Result: []byte("late"), TTL: t.long})
		})
		group.Go(func() {
			<-start
			got, claimErr = t.backend.Claim(t.ctx, q)
		})
		close(start)
		group.Wait()
		switch {
		case completeErr != nil:
			t.failf("complete beside a takeover: %w", completeErr)
		case claimErr != nil:
			t.failf("takeover beside a completion: %w", claimErr)
		case held && got.Status == idem.ClaimWon:
			t.failf("both the late completion and the takeover succeeded")
		case held && got.Status != idem.ClaimCompleted:
			t.failf("takeover beside a completion that succeeded: got %s", statusName(got.Status))
		case !held && got.Status != idem.ClaimWon:
			t.failf("neither the late completion nor the takeover (%s) succeeded", statusName(got.Status))
		}
		r := t.lookup("after the race", "k")
		same(t, "a completed record after the race", r.State == idem.Completed, held)
		t.release("an operator", "k", r.Fence, true)
	}
}
