package memory_test

import (
	"testing"
	"testing/synctest"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

func claim(t *testing.T, b *memory.Backend, q idem.ClaimRequest) idem.Record {
	t.Helper()
	got, err := b.Claim(t.Context(), q)
	if err != nil || got.Status != idem.ClaimWon {
		t.Fatalf("claim: %+v, %v", got, err)
	}
	return got.Record
}

func woken(changed <-chan struct{}) bool {
	select {
	case <-changed:
		return true
	default:
		return false
	}
}

func TestWhatWakes(t *testing.T) {
	extend := func(d time.Duration) func(*testing.T, *memory.Backend, idem.Fence) {
		return func(t *testing.T, b *memory.Backend, f idem.Fence) {
			held, err := b.Extend(t.Context(), []idem.Extension{{Key: "k", Fence: f, Lease: d}})
			if err != nil || !held[0] {
				t.Fatal(held, err)
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*testing.T, *memory.Backend, idem.Fence)
		want   bool
	}{
		"the end of a lease": {extend(0), true},
		"a renewed lease":    {extend(time.Minute), false},
		"a takeover": {func(t *testing.T, b *memory.Backend, _ idem.Fence) {
			time.Sleep(time.Minute)
			claim(t, b, idem.ClaimRequest{Key: "k", Owner: idem.Owner{2}, Lease: time.Minute, Takeover: true})
		}, true},
		"a lease that lapses": {func(*testing.T, *memory.Backend, idem.Fence) { time.Sleep(time.Minute) }, false},
		"another fence": {func(t *testing.T, b *memory.Backend, f idem.Fence) {
			if held, err := b.Release(t.Context(), "k", f+1); err != nil || held {
				t.Fatal(held, err)
			}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := memory.New()
				r := claim(t, b, idem.ClaimRequest{Key: "k", Owner: idem.Owner{1}, Lease: time.Minute, Retention: time.Hour})
				changed, stop := b.Watch("k")
				defer stop()
				c.change(t, b, r.Fence)
				if got := woken(changed); got != c.want {
					t.Errorf("%s wakes: %v, want %v", name, got, c.want)
				}
			})
		})
	}
}

// An extension leaves a completed record as it is, so there is no news of it.
func TestExtendingWhatIsCompletedWakesNobody(t *testing.T) {
	b := memory.New()
	complete(t, b, "k", time.Hour)
	r, _, err := b.Lookup(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	changed, stop := b.Watch("k")
	defer stop()
	held, err := b.Extend(t.Context(), []idem.Extension{{Key: "k", Fence: r.Fence}})
	if err != nil || !held[0] || woken(changed) {
		t.Errorf("held %v, %v, woken %v, want held and not woken", held, err, woken(changed))
	}
}

// Whoever stops late, after the watch woke him, stops nobody who watches anew.
func TestLateStop(t *testing.T) {
	b := memory.New()
	q := idem.ClaimRequest{Key: "k", Owner: idem.Owner{1}, Lease: time.Hour}
	release := func() {
		t.Helper()
		if held, err := b.Release(t.Context(), "k", claim(t, b, q).Fence); err != nil || !held {
			t.Fatal(held, err)
		}
	}
	_, stopFirst := b.Watch("k")
	release()
	changed, stopSecond := b.Watch("k")
	defer stopSecond()
	stopFirst()
	stopFirst()
	release()
	if !woken(changed) {
		t.Error("the second watch was stopped with the first")
	}
}
