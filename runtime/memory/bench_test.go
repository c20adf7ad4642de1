package memory_test

import (
	"strconv"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

func BenchmarkClaimComplete(b *testing.B) {
	b.ReportAllocs()
	backend := memory.New()
	result := []byte("result")
	i := 0
	for b.Loop() {
		i++
		key := "payments.Charge/" + strconv.Itoa(i)
		won, err := backend.Claim(b.Context(), idem.ClaimRequest{
			Key: key, Owner: idem.Owner{1}, Lease: 30 * time.Second, Retention: 24 * time.Hour, Takeover: true,
		})
		if err != nil || won.Status != idem.ClaimWon {
			b.Fatal(won, err)
		}
		held, err := backend.Complete(b.Context(), idem.Completion{
			Key: key, Fence: won.Record.Fence, Result: result, TTL: 24 * time.Hour,
		})
		if err != nil || !held {
			b.Fatal(held, err)
		}
	}
}

func BenchmarkReplay(b *testing.B) {
	b.ReportAllocs()
	backend := memory.New()
	request := idem.ClaimRequest{Key: "payments.Charge/1", Owner: idem.Owner{1}, Lease: time.Minute, Retention: time.Hour}
	won, _ := backend.Claim(b.Context(), request)
	backend.Complete(b.Context(), idem.Completion{Key: request.Key, Fence: won.Record.Fence, TTL: time.Hour})
	for b.Loop() {
		got, err := backend.Claim(b.Context(), request)
		if err != nil || got.Status != idem.ClaimCompleted {
			b.Fatal(got, err)
		}
	}
}
