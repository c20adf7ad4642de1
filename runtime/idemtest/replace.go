package idemtest

import idem "github.com/idemgen/idem/runtime"

// replace returns a claim of the record of k that has fence.
func (t *trial) replace(fence idem.Fence) idem.ClaimRequest {
	q := t.request("k")
	q.Replace = fence
	q.Takeover = false
	q.Fingerprint = anotherRequest
	return q
}

func replaceWinsRecordSeen(t *trial) {
	owner := t.request("k")
	owner.Fingerprint = oneRequest
	last := t.claim("the owner", owner, idem.ClaimWon).Record
	replace := func(when string) {
		q := t.replace(last.Fence)
		won := t.claim("an operator "+when, q, idem.ClaimWon)
		same(t, "TakenOver "+when, won.TakenOver, false)
		got := won.Record
		same(t, "Attempt "+when, got.Attempt, last.Attempt+1)
		same(t, "a greater fence "+when, got.Fence > last.Fence, true)
		t.bytes("Fingerprint "+when, got.Fingerprint, oneRequest)
		again := t.claim("the same operator again "+when, q, idem.ClaimWon)
		same(t, "Fence again "+when, again.Record.Fence, got.Fence)
		same(t, "TakenOver again "+when, again.TakenOver, false)
		t.complete("the replaced holder "+when, idem.Completion{Key: "k", Fence: last.Fence, TTL: t.long}, false)
		last = got
	}
	replace("while pending")
	t.extend("the operator", "k", last.Fence, t.short, true)
	t.pass()
	last = t.claim("the next owner", t.request("k"), idem.ClaimWon).Record
	replace("after a takeover")
	t.extend("the operator", "k", last.Fence, t.short, true)
	t.pass()
	replace("after the lease")
	t.complete("the operator", idem.Completion{Key: "k", Fence: last.Fence, Result: []byte("wrong"), TTL: t.long}, true)
	replace("after completion")
	t.complete("the operator", idem.Completion{Key: "k", Fence: last.Fence, Result: []byte("right"), TTL: t.long}, true)
	t.bytes("Result", t.lookup("after all", "k").Result, []byte("right"))
}

func replaceWinsNothingElse(t *trial) {
	got := t.claim("an operator of an absent record", t.replace(1), idem.ClaimInterrupted)
	same(t, "State of an absent record", got.Record.State, 0)
	same(t, "Fence of an absent record", got.Record.Fence, 0)
	t.absent("after an operator's claim", "k")

	first := t.win("k")
	stale := t.replace(first.Fence + 1000)
	stale.Fingerprint = nil
	stale.Takeover = true
	t.claim("an operator who saw another record", stale, idem.ClaimPending)
	t.extend("the holder", "k", first.Fence, t.short, true)
	t.pass()
	t.claim("an operator who saw another record that lapsed", stale, idem.ClaimInterrupted)
	t.complete("the holder", idem.Completion{Key: "k", Fence: first.Fence, TTL: t.long}, true)
	t.claim("an operator who saw another record than the completed", stale, idem.ClaimCompleted)
	t.release("an operator", "k", first.Fence, true)

	expired := t.finish("k", nil, t.short)
	t.pass()
	t.claim("an operator of an expired record", t.replace(expired.Fence), idem.ClaimInterrupted)
	t.absent("after an operator's claim of an expired record", "k")
}
