package idemtest

import (
	"errors"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// wakeLimit is how long a waiter may stay asleep. It bounds the check, and
// says nothing of what is acceptable.
const wakeLimit = 30 * time.Second

// waitersWake watches as a store does. A backend that is no notifier has
// nothing to check.
func waitersWake(t *trial) {
	n, ok := t.backend.(idem.Notifier)
	if !ok {
		return
	}
	t.waiters(n, "completion", func(key string, r idem.Record) {
		t.complete("the holder", idem.Completion{Key: key, Fence: r.Fence, TTL: t.long}, true)
	}, idem.ClaimCompleted)
	t.waiters(n, "release", func(key string, r idem.Record) {
		t.release("the holder", key, r.Fence, true)
	}, idem.ClaimWon)
}

// waiters wants two waiters to wake at a change that comes after they asked,
// though others stopped to wait.
func (t *trial) waiters(n idem.Notifier, change string, settle func(string, idem.Record), want idem.ClaimStatus) {
	for _, key := range []string{change, change + "\x00\xff"} {
		r := t.win(key)
		if t.err != nil {
			return
		}
		_, stopAnother := n.Watch("another key")
		stopAnother()
		first, stopFirst := n.Watch(key)
		defer stopFirst()
		second, stopSecond := n.Watch(key)
		defer stopSecond()
		q := t.request(key)
		q.Waiting = true
		t.claim("a waiter", q, idem.ClaimPending)
		_, stopThird := n.Watch(key)
		stopThird()
		settle(key, r)
		t.woken("a "+change, first)
		t.woken("a "+change, second)
		t.claim("a waiter who woke", q, want)
	}
}

// waiterRacesWithCompletion lets a waiter ask while the holder completes: a
// waiter who still found the record pending must wake.
func waiterRacesWithCompletion(t *trial) {
	n, ok := t.backend.(idem.Notifier)
	if !ok {
		return
	}
	for round := range 20 {
		r := t.win("k")
		if t.err != nil {
			return
		}
		q := t.request("k")
		q.Waiting = true
		changed, stop := n.Watch("k")
		var got idem.ClaimResult
		var completeErr, claimErr error
		together(round,
			func() {
				_, completeErr = t.backend.Complete(t.ctx, idem.Completion{Key: "k", Fence: r.Fence, TTL: t.long})
			},
			func() { got, claimErr = t.backend.Claim(t.ctx, q) },
		)
		if err := errors.Join(completeErr, claimErr); err != nil {
			t.failf("claim by a waiter beside a completion: %w", err)
		}
		if got.Status == idem.ClaimPending {
			t.woken("a completion", changed)
		}
		stop()
		t.claim("a waiter after the completion", q, idem.ClaimCompleted)
		t.release("an operator", "k", r.Fence, true)
	}
}

// woken wants a waiter to be told of a change. A nil channel promises nothing.
func (t *trial) woken(change string, changed <-chan struct{}) {
	if t.err != nil || changed == nil {
		return
	}
	select {
	case <-changed:
	case <-time.After(wakeLimit):
		t.failf("%s did not wake a waiter within %v", change, wakeLimit)
	}
}
