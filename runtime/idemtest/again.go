package idemtest

import (
	"context"
	"errors"
	"fmt"

	idem "github.com/idemgen/idem/runtime"
)

func claimCanBeSentAgain(t *trial) {
	q := t.request("k")
	q.Fingerprint = oneRequest
	q.Lease = t.short
	first := t.claim("the owner", q, idem.ClaimWon).Record
	again := t.claim("the owner whose answer was lost", q, idem.ClaimWon)
	same(t, "Fence", again.Record.Fence, first.Fence)
	same(t, "Attempt", again.Record.Attempt, 1)
	same(t, "TakenOver", again.TakenOver, false)

	t.pass()
	q = t.request("k")
	second := t.claim("the next owner", q, idem.ClaimWon).Record
	again = t.claim("the next owner whose answer was lost", q, idem.ClaimWon)
	same(t, "Fence after a takeover", again.Record.Fence, second.Fence)
	same(t, "Attempt after a takeover", again.Record.Attempt, 2)
	same(t, "TakenOver after a takeover", again.TakenOver, true)
	t.complete("the next owner", idem.Completion{Key: "k", Fence: second.Fence, TTL: t.long}, true)
}

func completeCanBeSentAgain(t *trial) {
	r := t.finish("k", []byte("first"), t.long)
	t.complete("the holder whose answer was lost", idem.Completion{Key: "k", Fence: r.Fence, Result: []byte("second"), TTL: t.long / 2}, true)
	got := t.lookup("after two completions", "k")
	t.bytes("Result", got.Result, []byte("first"))
	t.left("TTLLeft", got.TTLLeft, t.long)
}

func releaseCanBeSentAgain(t *trial) {
	r := t.win("k")
	t.release("the holder", "k", r.Fence, true)
	t.release("the holder whose answer was lost", "k", r.Fence, false)
	next := t.win("k")
	t.release("the holder whose answer was lost", "k", r.Fence, false)
	same(t, "Fence", t.lookup("at the end", "k").Fence, next.Fence)
}

// cancelledContext sends each request with a context that has ended, which may
// fail or not, and then once more: the second answer must fit the first.
func cancelledContext(t *trial) {
	ended, cancel := context.WithCancel(t.ctx)
	cancel()
	failed := func(step string, err error) bool {
		if err != nil && !errors.Is(err, context.Canceled) {
			t.failf("%s with a cancelled context: %w, want an error that wraps context.Canceled", step, err)
		}
		return err != nil
	}
	if t.err != nil {
		return
	}
	q := t.request("k")
	got, err := t.backend.Claim(ended, q)
	if !failed("claim", err) && got.Status != idem.ClaimWon {
		t.failf("claim with a cancelled context: got %s and no error", statusName(got.Status))
	}
	r := t.claim("the owner again", q, idem.ClaimWon).Record
	same(t, "Attempt", r.Attempt, 1)

	held, err := t.backend.Extend(ended, []idem.Extension{{Key: "k", Fence: r.Fence, Lease: t.long}})
	if !failed("extend", err) && (len(held) != 1 || !held[0]) {
		t.failf("extend with a cancelled context: held %v and no error", held)
	}
	t.extend("the holder", "k", r.Fence, t.long, true)

	c := idem.Completion{Key: "k", Fence: r.Fence, Result: []byte("result"), TTL: t.long}
	done, err := t.backend.Complete(ended, c)
	if !failed("complete", err) && !done {
		t.failf("complete with a cancelled context: not held and no error")
	}
	t.complete("the holder", c, true)

	_, found, err := t.backend.Lookup(ended, "k")
	if !failed("lookup", err) && !found {
		t.failf("lookup with a cancelled context: found nothing and no error")
	}
	n, err := t.backend.Sweep(ended, 10)
	if !failed("sweep", err) && n != 0 {
		t.failf("sweep with a cancelled context: deleted %d live records", n)
	}
	t.bytes("Result", t.lookup("at the end", "k").Result, []byte("result"))

	gone, err := t.backend.Release(ended, "k", r.Fence)
	if !failed("release", err) && !gone {
		t.failf("release with a cancelled context: not held and no error")
	}
	if _, err := t.backend.Release(t.ctx, "k", r.Fence); err != nil {
		t.failf("release by the holder: %w", err)
	}
	t.absent("after the release", "k")
}

// cancelledMeanwhile ends the context of a request while it is under way. What
// then stands must be all or nothing, so that the same request sent once more
// is answered as if the first had never been, or had been heard.
func cancelledMeanwhile(t *trial) {
	for round := range 20 {
		key := fmt.Sprint("k", round)
		q := t.request(key)
		q.Fingerprint = oneRequest
		t.cancelled(round, func(ctx context.Context) { _, _ = t.backend.Claim(ctx, q) })
		r := t.claim("the owner again", q, idem.ClaimWon).Record
		same(t, "Attempt", r.Attempt, 1)
		t.bytes("Fingerprint", r.Fingerprint, oneRequest)

		c := idem.Completion{Key: key, Fence: r.Fence, Result: []byte("result"), TTL: t.long}
		t.cancelled(round, func(ctx context.Context) { _, _ = t.backend.Complete(ctx, c) })
		t.complete("the holder again", c, true)
		got := t.lookup("after the completion", key)
		t.bytes("Result", got.Result, []byte("result"))
		t.left("TTLLeft", got.TTLLeft, t.long)

		x := []idem.Extension{{Key: key, Fence: r.Fence, Lease: t.short}}
		t.cancelled(round, func(ctx context.Context) { _, _ = t.backend.Extend(ctx, x) })
		t.cancelled(round, func(ctx context.Context) { _, _ = t.backend.Sweep(ctx, 10) })
		t.bytes("Result", t.lookup("of a completed record", key).Result, []byte("result"))
	}
}

// cancelled lets act run beside the end of its context. It may fail in
// whatever words: an error says only that the outcome is unknown.
func (t *trial) cancelled(round int, act func(context.Context)) {
	if t.err != nil {
		return
	}
	ctx, cancel := context.WithCancel(t.ctx)
	together(round, func() { act(ctx) }, cancel)
}

// answersStay wants what was answered to stay as it was, whatever happens to
// the record, because answers are kept and handed on.
func answersStay(t *trial) {
	q := t.request("k")
	q.Fingerprint = oneRequest
	r := t.claim("the owner", q, idem.ClaimWon).Record
	t.complete("the owner", idem.Completion{Key: "k", Fence: r.Fence, Result: []byte("first result"), TTL: t.long}, true)
	claimed := t.claim("another", t.request("k"), idem.ClaimCompleted).Record
	seen := t.lookup("after completion", "k")
	for _, other := range []string{"other", "k"} {
		if other == "k" {
			t.release("an operator", "k", r.Fence, true)
		}
		q := t.request(other)
		q.Fingerprint = anotherRequest
		next := t.claim("the owner of another record", q, idem.ClaimWon).Record
		t.complete("the owner of another record", idem.Completion{Key: other, Fence: next.Fence, Result: []byte("later result"), TTL: t.long}, true)
		t.claim("another", t.request(other), idem.ClaimCompleted)
		t.bytes("Result of the later record", t.lookup("of another record", other).Result, []byte("later result"))
		for _, kept := range []idem.Record{claimed, seen} {
			t.bytes("Result that was answered earlier", kept.Result, []byte("first result"))
			t.bytes("Fingerprint that was answered earlier", kept.Fingerprint, oneRequest)
		}
	}
}
