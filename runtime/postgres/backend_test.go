package postgres

import (
	"testing"
	"time"

	"github.com/idemgen/idem/internal/pgtest"
	idem "github.com/idemgen/idem/runtime"
)

func TestLifeOfARecord(t *testing.T) {
	b := open(t, pgtest.DSN(t))
	fence := b.win("k")
	if r, found := b.lookup("k"); !found || r.State != idem.Pending || r.Fence != fence || r.Attempt != 1 {
		t.Errorf("pending: %+v", r)
	}
	if got := b.claim(request("k")); got.Status != idem.ClaimPending || got.Record.LeaseLeft <= 0 {
		t.Errorf("second claim: %+v", got)
	}
	if !b.extend("k", fence, time.Hour) || !b.complete("k", fence, "done") || !b.complete("k", fence, "again") {
		t.Error("the holder was not held")
	}
	got := b.claim(request("k"))
	if got.Status != idem.ClaimCompleted || string(got.Record.Result) != "done" || got.Record.TTLLeft <= 59*time.Minute {
		t.Errorf("replay: %+v", got)
	}
	b.pass(2 * time.Hour)
	if _, found := b.lookup("k"); found {
		t.Error("an expired record was found")
	}
	got = b.claim(request("k"))
	if got.Status != idem.ClaimWon || got.Record.Attempt != 1 || got.TakenOver || got.Record.Fence <= fence {
		t.Errorf("claim of an expired record: %+v", got)
	}
	b.pass(2 * time.Minute)
	late := got.Record.Fence
	got = b.claim(request("k"))
	if got.Status != idem.ClaimWon || got.Record.Attempt != 2 || !got.TakenOver || got.Record.Fence <= late {
		t.Errorf("takeover: %+v", got)
	}
	if b.complete("k", late, "late") || b.extend("k", late, time.Hour) || b.release("k", late) {
		t.Error("the fence of a lost claim still works")
	}
	if !b.release("k", got.Record.Fence) {
		t.Error("the holder could not release")
	}
	if _, found := b.lookup("k"); found {
		t.Error("a released record was found")
	}
	b.pass(24 * time.Hour)
	if n := b.sweep(10); n != 1 {
		t.Errorf("swept %d", n)
	}
}
