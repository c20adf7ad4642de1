package idemtest

import (
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// wakeLimit is how long a waiter may stay asleep. It bounds the check, and
// says nothing of what is acceptable.
const wakeLimit = 30 * time.Second

// waitersWake watches as a store does. A backend that is no notifier, or that
// cannot watch now, has nothing to check.
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
		_, stopStranger := n.Watch("another key")
		stopStranger()
		first, stopFirst := n.Watch(key)
		defer stopFirst()
		second, stopSecond := n.Watch(key)
		defer stopSecond()
		if first == nil || second == nil {
			return
		}
		q := t.request(key)
		q.Waiting = true
		t.claim("a waiter", q, idem.ClaimPending)
		_, stopThird := n.Watch(key)
		stopThird()
		settle(key, r)
		for _, changed := range []<-chan struct{}{first, second} {
			if t.err != nil {
				return
			}
			select {
			case <-changed:
			case <-time.After(wakeLimit):
				t.failf("a %s woke a waiter not within %v", change, wakeLimit)
			}
		}
		t.claim("a waiter who woke", q, want)
	}
}
