package memory_test

import (
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

// execute claims a new key and completes it.
func execute(b *testing.B, backend *memory.Backend, i int, ttl time.Duration) {
	key := "payments.Charge/cus_9/order-" + strconv.Itoa(i)
	won, err := backend.Claim(b.Context(), idem.ClaimRequest{
		Key: key, Owner: idem.Owner{1}, Lease: 30 * time.Second, Retention: 24 * time.Hour, Takeover: true,
	})
	if err != nil || won.Status != idem.ClaimWon {
		b.Fatal(won, err)
	}
	held, err := backend.Complete(b.Context(), idem.Completion{Key: key, Fence: won.Record.Fence, TTL: ttl})
	if err != nil || !held {
		b.Fatal(held, err)
	}
}

func BenchmarkFirst(b *testing.B) {
	b.ReportAllocs()
	backend := memory.New()
	i := 0
	for b.Loop() {
		i++
		execute(b, backend, i, time.Hour)
	}
}

func BenchmarkReplay(b *testing.B) {
	b.ReportAllocs()
	backend := memory.New()
	execute(b, backend, 1, time.Hour)
	request := idem.ClaimRequest{Key: "payments.Charge/cus_9/order-1", Owner: idem.Owner{2}, Lease: time.Minute}
	for b.Loop() {
		got, err := backend.Claim(b.Context(), request)
		if err != nil || got.Status != idem.ClaimCompleted {
			b.Fatal(got, err)
		}
	}
}

// BenchmarkMillionKeys reports what a key costs, its own 34 bytes included.
func BenchmarkMillionKeys(b *testing.B) {
	const keys = 1_000_000
	for b.Loop() {
		before := heap()
		backend := memory.New()
		for i := range keys {
			execute(b, backend, i, time.Hour)
		}
		b.ReportMetric(float64(heap()-before)/keys, "B/key")
		runtime.KeepAlive(backend)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkFirstBesideSweep reports the slowest of a hundred executions while
// a million expired records are deleted.
func BenchmarkFirstBesideSweep(b *testing.B) {
	const expired = 1_000_000
	for b.Loop() {
		backend := memory.New()
		for i := range expired {
			execute(b, backend, i, time.Nanosecond)
		}
		swept := make(chan int, 1)
		go func() {
			n, err := backend.Sweep(b.Context(), expired)
			if err != nil {
				b.Error(err)
			}
			swept <- n
		}()
		var took []time.Duration
		for n := 0; n == 0; {
			start := time.Now()
			execute(b, backend, expired+len(took), time.Hour)
			took = append(took, time.Since(start))
			select {
			case n = <-swept:
				if n != expired {
					b.Fatalf("swept %d of %d", n, expired)
				}
			default:
			}
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
		b.ReportMetric(float64(took[len(took)*999/1000]), "p99.9-ns")
		b.ReportMetric(float64(len(took)), "executions")
	}
}
