package idemtest

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

func resultsExpire(t *trial) {
	q := t.request("k")
	q.Fingerprint = oneRequest
	r := t.claim("the owner", q, idem.ClaimWon).Record
	c := idem.Completion{Key: "k", Fence: r.Fence, Result: []byte("result"), TTL: t.short}
	t.complete("the owner", c, true)
	if t.exact {
		t.wait(t.short - t.slack)
		got := t.claim("another shortly before expiry", t.request("k"), idem.ClaimCompleted).Record
		t.left("TTLLeft", got.TTLLeft, t.slack)
	}
	t.pass()
	t.absent("after expiry", "k")
	t.complete("the owner after expiry", c, false)
	t.extend("the owner after expiry", "k", r.Fence, t.long, false)
	t.release("the owner after expiry", "k", r.Fence, false)

	for _, takeover := range []bool{false, true} {
		again := t.request("k")
		again.Fingerprint = anotherRequest
		again.Takeover = takeover
		got := t.claim("another after expiry", again, idem.ClaimWon)
		same(t, "TakenOver", got.TakenOver, false)
		same(t, "Attempt", got.Record.Attempt, 1)
		t.bytes("Fingerprint", got.Record.Fingerprint, anotherRequest)
		t.complete("the first owner", c, false)
		t.complete("another", idem.Completion{Key: "k", Fence: got.Record.Fence, TTL: t.short}, true)
		t.pass()
	}
}

func pendingRecordsExpire(t *trial) {
	q := t.request("k")
	q.Lease, q.Retention = t.short, 2*t.short
	q.Fingerprint = oneRequest
	r := t.claim("the owner", q, idem.ClaimWon).Record
	if t.exact {
		t.wait(3*t.short - t.slack)
		t.lookup("while a lapsed record is retained", "k")
	}
	t.wait(3*t.short + min(t.short, t.slack))
	t.absent("after the retention", "k")
	t.complete("the owner after the retention", idem.Completion{Key: "k", Fence: r.Fence, TTL: t.long}, false)
	t.extend("the owner after the retention", "k", r.Fence, t.long, false)
	next := t.request("k")
	next.Fingerprint = anotherRequest
	next.Takeover = false
	got := t.claim("another after the retention", next, idem.ClaimWon)
	same(t, "TakenOver", got.TakenOver, false)
	same(t, "Attempt", got.Record.Attempt, 1)
	same(t, "a greater fence", got.Record.Fence > r.Fence, true)

	q = t.request("renewed")
	q.Lease, q.Retention = t.short, t.ample
	r = t.claim("the owner", q, idem.ClaimWon).Record
	t.extend("the owner", "renewed", r.Fence, t.long, true)
	t.pass()
	t.wait(t.ample)
	t.claim("another after the retention, but within the lease", t.request("renewed"), idem.ClaimPending)
}

func durationsOfEveryLength(t *trial) {
	for _, d := range []time.Duration{
		time.Millisecond, 20 * time.Millisecond, time.Second, 90 * time.Second, time.Hour,
		10_000_000 * time.Millisecond, 366 * 24 * time.Hour, 50 * 365 * 24 * time.Hour,
	} {
		key := d.String()
		q := t.request(key)
		q.Lease = d
		r := t.claim("the owner for "+key, q, idem.ClaimWon).Record
		t.left("LeaseLeft", r.LeaseLeft, d)
		t.extend("the owner for "+key, key, r.Fence, 2*d, true)
		t.left("LeaseLeft after an extension", t.lookup("after an extension", key).LeaseLeft, 2*d)
		t.complete("the owner for "+key, idem.Completion{Key: key, Fence: r.Fence, TTL: d}, true)
		if d > t.slack || t.exact && d > time.Second {
			t.left("TTLLeft", t.lookup("after completion", key).TTLLeft, d)
		}
		if d <= t.short {
			t.wait(d + min(d, t.slack) + time.Millisecond)
			t.absent("after "+key, key)
		}
	}
}

func forever(t *trial) {
	r := t.finish("result", []byte("result"), idem.Forever)
	same(t, "TTLLeft", t.lookup("after completion", "result").TTLLeft, idem.Forever)
	q := t.request("pending")
	q.Lease, q.Retention = t.short, idem.Forever
	t.claim("the owner", q, idem.ClaimWon)
	t.pass()
	t.sweep("of what lasts forever", 10, 0, 0)
	t.wait(10 * t.short)
	t.lookup("of a record retained forever", "pending")
	t.claim("another", t.request("pending"), idem.ClaimWon)
	got := t.claim("another", t.request("result"), idem.ClaimCompleted).Record
	same(t, "Fence", got.Fence, r.Fence)
	same(t, "TTLLeft", got.TTLLeft, idem.Forever)
}

// everyByte holds all bytes, in an order that is no UTF-8.
var everyByte = func() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(255 - i)
	}
	return b
}()

func keysOfAnyBytes(t *trial) {
	keys := []string{
		"", " ", "k", "K", "k ", " k", "k\x00", "\x00k", "\x00", "k%", "k_", "k'", `k"`, `k\`, "k\n", "ключ",
		"\xff", "\xff\xfe", "\xc3\x28", "\ufffd", "é", "e\u0301", string(everyByte), strings.Repeat("k", 1000),
	}
	fences := make(map[string]idem.Fence)
	for _, key := range keys {
		fences[key] = t.claim(fmt.Sprintf("the owner of %.40q", key), t.request(key), idem.ClaimWon).Record.Fence
	}
	for _, key := range keys {
		t.complete("the owner", idem.Completion{Key: key, Fence: fences[key], Result: []byte(key), TTL: t.long}, true)
	}
	for _, key := range keys {
		t.bytes("Result of a key", t.lookup("after completion", key).Result, []byte(key))
	}
	for _, key := range keys {
		t.release("the owner", key, fences[key], true)
		t.absent("after the release", key)
	}
}

func resultsOfAnyBytes(t *trial) {
	results := [][]byte{
		nil, {}, {0}, []byte("\x00\x00"), []byte("null"), []byte(`{"b":1.0,"a":"\u0000"}`), []byte(`\x00`), []byte("\xff\xfe"),
		everyByte, bytes.Repeat(everyByte, 1<<20/len(everyByte)),
	}
	for i, result := range results {
		key := fmt.Sprint("k", i)
		q := t.request(key)
		q.Fingerprint = result[:min(len(result), 1000)]
		r := t.claim("the owner", q, idem.ClaimWon).Record
		t.complete("the owner", idem.Completion{Key: key, Fence: r.Fence, Result: result, TTL: t.long}, true)
	}
	for i, result := range results {
		key := fmt.Sprint("k", i)
		got := t.claim("another", t.request(key), idem.ClaimCompleted).Record
		t.bytes("Result", got.Result, result)
		t.bytes("Fingerprint", got.Fingerprint, result[:min(len(result), 1000)])
		t.bytes("Result", t.lookup("after completion", key).Result, result)
	}
}
