package memory_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

func sweep(t *testing.T, b *memory.Backend, limit, want int) {
	t.Helper()
	if got, err := b.Sweep(t.Context(), limit); got != want || err != nil {
		t.Fatalf("swept %d, %v, want %d", got, err, want)
	}
}

// One sweep deletes all that its limit allows, however it is spread.
func TestSweepGoesRoundUntilNothingIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const expired = 5000
		b := memory.New()
		for i := range expired {
			complete(t, b, fmt.Sprint(i), time.Minute)
		}
		time.Sleep(time.Minute)
		sweep(t, b, expired-1000, expired-1000)
		sweep(t, b, expired, 1000)
		sweep(t, b, expired, 0)
	})
}

func TestSweepEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := memory.New()
		complete(t, b, "k", time.Minute)
		time.Sleep(time.Minute)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if n, err := b.Sweep(ended, 10); n != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("swept %d, %v, want none and context.Canceled", n, err)
		}
		sweep(t, b, 10, 1)
	})
}

func TestSweepFollowsRenewedLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := memory.New()
		won := claim(t, b, idem.ClaimRequest{Key: "k", Lease: time.Second, Retention: time.Second})
		x := []idem.Extension{{Key: "k", Fence: won.Fence, Lease: time.Minute}}
		if _, err := b.Extend(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		sweep(t, b, 100, 0)
		time.Sleep(30 * time.Second)
		sweep(t, b, 100, 1)
		sweep(t, b, 100, 0)
	})
}
