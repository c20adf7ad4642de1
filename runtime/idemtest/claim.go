package idemtest

import idem "github.com/idemgen/idem/runtime"

// Two fingerprints that differ.
var (
	oneRequest     = []byte("\x01one request")
	anotherRequest = []byte("\x01another request")
)

func absentIsWon(t *trial) {
	t.absent("before the first claim", "k")
	for _, takeover := range []bool{false, true} {
		q := t.request("k")
		q.Takeover = takeover
		q.Fingerprint = oneRequest
		got := t.claim("the first owner", q, idem.ClaimWon)
		same(t, "TakenOver", got.TakenOver, false)
		for _, r := range []idem.Record{got.Record, t.lookup("after the claim", "k")} {
			same(t, "State", r.State, idem.Pending)
			same(t, "Attempt", r.Attempt, 1)
			same(t, "Fence", r.Fence, got.Record.Fence)
			same(t, "a positive fence", r.Fence > 0, true)
			t.bytes("Fingerprint", r.Fingerprint, oneRequest)
			t.left("LeaseLeft", r.LeaseLeft, q.Lease)
			t.left("minus Age", -r.Age, 0)
		}
		t.release("the holder", "k", got.Record.Fence, true)
		t.absent("after the release", "k")
	}
}

func ownClaimIsWonAgain(t *trial) {
	q := t.request("k")
	q.Fingerprint = oneRequest
	q.Lease = t.short
	first := t.claim("the owner", q, idem.ClaimWon).Record
	again := func(when string) {
		q.Takeover = false
		q.Lease *= 2
		got := t.claim("the same owner "+when, q, idem.ClaimWon).Record
		same(t, "Fence "+when, got.Fence, first.Fence)
		same(t, "Attempt "+when, got.Attempt, 1)
		t.left("LeaseLeft "+when, got.LeaseLeft, q.Lease)
	}
	again("again")
	t.wait(q.Lease + min(t.short, t.slack))
	again("after its lease")
	q.Fingerprint = anotherRequest
	again("with another fingerprint")
	q.Fingerprint = oneRequest
	t.complete("the owner", idem.Completion{Key: "k", Fence: first.Fence, TTL: t.long}, true)
	t.claim("the same owner after completion", q, idem.ClaimCompleted)
}

func otherFingerprintConflicts(t *trial) {
	owner := t.request("k")
	owner.Fingerprint = oneRequest
	owner.Lease = t.long
	first := t.claim("the owner", owner, idem.ClaimWon).Record
	conflict := func(when string) {
		for _, takeover := range []bool{false, true} {
			q := t.request("k")
			q.Fingerprint = anotherRequest
			q.Takeover = takeover
			got := t.claim("another fingerprint "+when, q, idem.ClaimConflict).Record
			same(t, "Fence "+when, got.Fence, first.Fence)
			t.bytes("Fingerprint "+when, got.Fingerprint, oneRequest)
		}
	}
	conflict("while pending")
	t.extend("the holder", "k", first.Fence, t.short, true)
	t.pass()
	conflict("after the lease")
	t.complete("the holder", idem.Completion{Key: "k", Fence: first.Fence, TTL: t.long}, true)
	conflict("after completion")

	q := t.request("k")
	q.Fingerprint = oneRequest
	t.claim("the same fingerprint", q, idem.ClaimCompleted)
}

func unknownFingerprintNeverConflicts(t *trial) {
	for _, kept := range [][]byte{nil, {}, oneRequest} {
		owner := t.request("k")
		owner.Fingerprint = kept
		first := t.claim("the owner", owner, idem.ClaimWon).Record
		ask := func(when string, want idem.ClaimStatus) {
			for _, asked := range [][]byte{nil, {}, oneRequest} {
				q := t.request("k")
				q.Fingerprint = asked
				q.Takeover = false
				t.claim("a fingerprint that may be unknown "+when, q, want)
			}
		}
		ask("while pending", idem.ClaimPending)
		t.extend("the holder", "k", first.Fence, t.short, true)
		t.pass()
		ask("after the lease", idem.ClaimInterrupted)
		t.complete("the holder", idem.Completion{Key: "k", Fence: first.Fence, TTL: t.long}, true)
		ask("after completion", idem.ClaimCompleted)
		t.release("the holder", "k", first.Fence, true)
	}
}

func completedIsAnswered(t *trial) {
	owner := t.request("k")
	owner.Fingerprint = oneRequest
	first := t.claim("the owner", owner, idem.ClaimWon).Record
	t.complete("the holder", idem.Completion{Key: "k", Fence: first.Fence, Result: []byte("result"), TTL: t.long}, true)
	for _, takeover := range []bool{false, true} {
		q := t.request("k")
		q.Takeover = takeover
		got := t.claim("a second owner", q, idem.ClaimCompleted)
		same(t, "TakenOver", got.TakenOver, false)
		for _, r := range []idem.Record{got.Record, t.lookup("after completion", "k")} {
			same(t, "State", r.State, idem.Completed)
			same(t, "Attempt", r.Attempt, 1)
			same(t, "Fence", r.Fence, first.Fence)
			t.bytes("Fingerprint", r.Fingerprint, oneRequest)
			t.bytes("Result", r.Result, []byte("result"))
			t.left("TTLLeft", r.TTLLeft, t.long)
		}
	}
}

func liveLeaseIsPending(t *trial) {
	first := t.win("k")
	second := t.request("k")
	got := t.claim("a second owner", second, idem.ClaimPending).Record
	same(t, "State", got.State, idem.Pending)
	same(t, "Fence", got.Fence, first.Fence)
	same(t, "Attempt", got.Attempt, 1)
	t.left("LeaseLeft", got.LeaseLeft, t.long)
	second.Takeover = false
	t.claim("a second owner who may not take over", second, idem.ClaimPending)
	t.complete("the holder", idem.Completion{Key: "k", Fence: first.Fence, TTL: t.long}, true)
	if !t.exact {
		return
	}
	t.winShort("lease")
	t.wait(t.short - t.slack)
	got = t.claim("a second owner shortly before the lease ends", t.request("lease"), idem.ClaimPending).Record
	t.left("LeaseLeft", got.LeaseLeft, t.slack)
	t.left("minus Age", -got.Age, -(t.short - t.slack))
}

func lapsedIsTakenOver(t *trial) {
	last := t.winShort("k")
	for attempt := 2; attempt <= 4; attempt++ {
		t.pass()
		same(t, "a lapsed lease is over", t.lookup("after the lease", "k").LeaseLeft <= 0, true)
		q := t.request("k")
		q.Lease = t.short
		got := t.claim("the next owner", q, idem.ClaimWon)
		same(t, "TakenOver", got.TakenOver, true)
		same(t, "Attempt", got.Record.Attempt, attempt)
		same(t, "a greater fence", got.Record.Fence > last.Fence, true)
		t.left("LeaseLeft", got.Record.LeaseLeft, t.short)
		t.left("minus Age", -got.Record.Age, 0)
		last = got.Record
	}
	t.complete("the last owner", idem.Completion{Key: "k", Fence: last.Fence, TTL: t.long}, true)
	got := t.claim("another", t.request("k"), idem.ClaimCompleted).Record
	same(t, "Attempt", got.Attempt, 4)
}

func takeoverKeepsFingerprint(t *trial) {
	for _, c := range []struct{ kept, asked, want []byte }{
		{oneRequest, oneRequest, oneRequest},
		{oneRequest, nil, oneRequest},
		{nil, oneRequest, oneRequest},
		{nil, nil, nil},
	} {
		q := t.request("k")
		q.Fingerprint = c.kept
		q.Lease = t.short
		t.claim("the owner", q, idem.ClaimWon)
		t.pass()
		q = t.request("k")
		q.Fingerprint = c.asked
		got := t.claim("the next owner", q, idem.ClaimWon).Record
		t.bytes("Fingerprint", got.Fingerprint, c.want)
		t.bytes("Fingerprint", t.lookup("after the takeover", "k").Fingerprint, c.want)
		t.release("the next owner", "k", got.Fence, true)
	}
}

func lapsedIsInterrupted(t *trial) {
	first := t.winShort("k")
	t.pass()
	for range 2 {
		q := t.request("k")
		q.Takeover = false
		got := t.claim("one who may not take over", q, idem.ClaimInterrupted).Record
		same(t, "State", got.State, idem.Pending)
		same(t, "Fence", got.Fence, first.Fence)
		same(t, "Attempt", got.Attempt, 1)
		same(t, "a lapsed lease is over", got.LeaseLeft <= 0, true)
	}
}
