package memory_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

// complete records an outcome for key, to be kept for ttl.
func complete(t *testing.T, b *memory.Backend, key string, ttl time.Duration) {
	t.Helper()
	won, err := b.Claim(t.Context(), idem.ClaimRequest{Key: key, Owner: idem.Owner{1}, Lease: time.Second, Retention: time.Hour})
	if err != nil || won.Status != idem.ClaimWon {
		t.Fatalf("claim %q: %+v, %v", key, won, err)
	}
	held, err := b.Complete(t.Context(), idem.Completion{Key: key, Fence: won.Record.Fence, TTL: ttl})
	if err != nil || !held {
		t.Fatalf("complete %q: %v, %v", key, held, err)
	}
}

func found(t *testing.T, b *memory.Backend, key string) bool {
	t.Helper()
	_, found, err := b.Lookup(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestCapacityEvictsTheFirstToExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(memory.WithCapacity(3))
		complete(t, b, "forever", idem.Forever)
		complete(t, b, "hour", time.Hour)
		complete(t, b, "day", 24*time.Hour)
		if _, err := b.Claim(t.Context(), idem.ClaimRequest{Key: "pending", Lease: time.Second}); err != nil {
			t.Fatal(err)
		}
		complete(t, b, "minute", time.Minute)
		for key, want := range map[string]bool{
			"forever": true, "hour": false, "day": true, "pending": true, "minute": true,
		} {
			if got := found(t, b, key); got != want {
				t.Errorf("%s is kept: %v, want %v", key, got, want)
			}
		}
	})
}

// A large capacity is divided among shards, which may fill unevenly.
func TestCapacityIsAnUpperBound(t *testing.T) {
	const capacity = 10_000
	b := memory.New(memory.WithCapacity(capacity))
	kept := 0
	for i := range 2 * capacity {
		complete(t, b, fmt.Sprint(i), time.Hour)
	}
	for i := range 2 * capacity {
		if found(t, b, fmt.Sprint(i)) {
			kept++
		}
	}
	if kept > capacity || kept < capacity-100 {
		t.Errorf("%d records kept, want nearly %d and no more", kept, capacity)
	}
}

func TestNoCapacityIsNoBound(t *testing.T) {
	for _, n := range []int{0, -1, -1_000_000} {
		b := memory.New(memory.WithCapacity(n))
		for i := range 200 {
			complete(t, b, fmt.Sprint(i), time.Hour)
		}
		for i := range 200 {
			if !found(t, b, fmt.Sprint(i)) {
				t.Fatalf("record %d is gone with a capacity of %d", i, n)
			}
		}
	}
}
