package idemtest

import (
	"fmt"
	"math"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// superseded lets a second owner take a claim over, and returns both claims.
func (t *trial) superseded(key string) (old, current idem.Record) {
	old = t.winShort(key)
	t.pass()
	current = t.claim("the next owner", t.request(key), idem.ClaimWon).Record
	return old, current
}

func completeIsFenced(t *trial) {
	old, current := t.superseded("k")
	t.complete("the old holder", idem.Completion{Key: "k", Fence: old.Fence, Result: []byte("old"), TTL: t.long}, false)
	same(t, "State", t.lookup("after the old holder's completion", "k").State, idem.Pending)
	t.complete("the new holder", idem.Completion{Key: "k", Fence: current.Fence, Result: []byte("new"), TTL: t.long}, true)
	t.complete("the old holder again", idem.Completion{Key: "k", Fence: old.Fence, Result: []byte("old"), TTL: t.long}, false)
	t.bytes("Result", t.lookup("at the end", "k").Result, []byte("new"))
	t.complete("nobody", idem.Completion{Key: "absent", Fence: current.Fence, TTL: t.long}, false)
	t.absent("after nobody's completion", "absent")
}

func releaseIsFenced(t *trial) {
	old, current := t.superseded("k")
	t.release("the old holder", "k", old.Fence, false)
	same(t, "Fence", t.lookup("after the old holder's release", "k").Fence, current.Fence)
	t.release("the holder of another key", "other", current.Fence, false)
	t.complete("the new holder", idem.Completion{Key: "k", Fence: current.Fence, TTL: t.long}, true)
	t.release("the old holder after completion", "k", old.Fence, false)
	t.release("an operator", "k", current.Fence, true)
	t.absent("after the release", "k")

	again := t.win("k")
	same(t, "Attempt after a release", again.Attempt, 1)
	t.release("a holder whose key was claimed anew", "k", current.Fence, false)
	same(t, "Fence", t.lookup("at the end", "k").Fence, again.Fence)
}

func extendIsFenced(t *trial) {
	old, current := t.superseded("k")
	t.extend("the old holder", "k", old.Fence, -t.slack, false)
	t.claim("another after the old holder's extension", t.request("k"), idem.ClaimPending)
	t.extend("the holder of another key", "other", current.Fence, t.long, false)
	t.absent("after nobody's extension", "other")
	t.extend("the new holder", "k", current.Fence, t.long, true)
}

func fencesOnlyGrow(t *trial) {
	var last idem.Fence
	grew := func(when string, f idem.Fence) {
		if f <= last {
			t.failf("fence %d %s follows %d, want a greater one", f, when, last)
		}
		last = f
	}
	for i := range 3 {
		key := fmt.Sprint("k", i)
		r := t.win(key)
		grew("of a new key", r.Fence)
		t.release("the holder", key, r.Fence, true)
		r = t.winShort(key)
		grew("after a release", r.Fence)
		t.pass()
		r = t.claim("the next owner", t.request(key), idem.ClaimWon).Record
		grew("after a takeover", r.Fence)
		t.complete("the next owner", idem.Completion{Key: key, Fence: r.Fence, TTL: t.short}, true)
		t.pass()
		grew("after expiry", t.win(key).Fence)
		r = t.finish(fmt.Sprint("swept", i), nil, t.short)
		grew("of a new key", r.Fence)
		t.pass()
		t.sweep("after expiry", 10, 1, 1)
	}
}

func lapsedHolderSettles(t *trial) {
	r := t.winShort("complete")
	t.pass()
	t.complete("a lapsed holder", idem.Completion{Key: "complete", Fence: r.Fence, Result: []byte("late"), TTL: t.long}, true)
	got := t.lookup("after a late completion", "complete")
	t.bytes("Result", got.Result, []byte("late"))
	t.left("TTLLeft counts from the completion, and", got.TTLLeft, t.long)

	r = t.winShort("extend")
	t.pass()
	t.extend("a lapsed holder", "extend", r.Fence, t.long, true)
	t.claim("another after a late extension", t.request("extend"), idem.ClaimPending)

	r = t.winShort("release")
	t.pass()
	t.release("a lapsed holder", "release", r.Fence, true)
	t.absent("after a late release", "release")
}

func extendRenews(t *trial) {
	r := t.winShort("k")
	var age time.Duration
	for range 3 {
		t.extend("the holder", "k", r.Fence, 2*t.short, true)
		if t.exact {
			t.wait(2*t.short - t.slack)
			age += 2*t.short - t.slack
			t.claim("another while the lease is renewed", t.request("k"), idem.ClaimPending)
		}
	}
	t.extend("the holder", "k", r.Fence, t.long, true)
	t.wait(2 * t.short)
	age += 2 * t.short
	got := t.claim("another after the first lease", t.request("k"), idem.ClaimPending).Record
	same(t, "Fence", got.Fence, r.Fence)
	same(t, "Attempt", got.Attempt, 1)
	t.left("minus Age, which counts from the claim,", -got.Age, -age)
	t.left("LeaseLeft, which counts from the extension,", got.LeaseLeft, t.long-2*t.short)
	t.extend("the holder", "k", r.Fence, t.short, true)
	t.left("LeaseLeft after a shorter extension", t.lookup("after a shorter extension", "k").LeaseLeft, t.short)

	t.complete("the holder", idem.Completion{Key: "k", Fence: r.Fence, Result: []byte("result"), TTL: t.long}, true)
	for _, lease := range []time.Duration{t.short, 0, -t.short} {
		t.extend("the holder of a completed record", "k", r.Fence, lease, true)
	}
	got = t.lookup("after extending a completed record", "k")
	same(t, "State", got.State, idem.Completed)
	t.bytes("Result", got.Result, []byte("result"))
	t.left("TTLLeft", got.TTLLeft, t.long)
}

func extendEndsLeases(t *trial) {
	for _, lease := range []time.Duration{0, -1, -t.short, math.MinInt64} {
		r := t.win("k")
		t.extend("the holder", "k", r.Fence, lease, true)
		same(t, "the lease is over", t.lookup("after the lease was ended", "k").LeaseLeft <= 0, true)
		q := t.request("k")
		q.Takeover = false
		t.claim("one who may not take over", q, idem.ClaimInterrupted)
		t.extend("the holder", "k", r.Fence, t.long, true)
		t.claim("another after the lease was renewed", t.request("k"), idem.ClaimPending)
		t.extend("the holder", "k", r.Fence, lease, true)
		r = t.claim("another after the lease was ended", t.request("k"), idem.ClaimWon).Record
		same(t, "Attempt", r.Attempt, 2)
		t.release("the next owner", "k", r.Fence, true)
	}
}

func extendAnswersInOrder(t *trial) {
	t.extendAll("one who holds nothing", nil)
	var x []idem.Extension
	var want []bool
	for i := range 100 {
		key := fmt.Sprint("k", (i*37)%100)
		fence := idem.Fence(1)
		if i%3 > 0 {
			fence = t.win(key).Fence
			if i%3 == 2 {
				fence += 1000
			}
		}
		x = append(x, idem.Extension{Key: key, Fence: fence, Lease: t.long * time.Duration(i+1) / 50})
		want = append(want, i%3 == 1)
	}
	held := t.extendAll("a holder of many", x)
	if t.err != nil {
		return
	}
	for i, x := range x {
		if held[i] != want[i] {
			t.failf("extend of many: answer %d is held %v, want %v", i, held[i], want[i])
		}
		switch i % 3 {
		case 0:
			t.absent("after extending an absent record", x.Key)
		case 1:
			t.left("LeaseLeft of one of many", t.lookup("after extending many", x.Key).LeaseLeft, x.Lease)
		case 2:
			t.left("LeaseLeft of one that has another fence", t.lookup("after extending many", x.Key).LeaseLeft, t.long)
		}
	}
}
