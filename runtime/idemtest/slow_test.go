package idemtest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// A slow backend is one behind a network: every call takes a while there and a
// while back.
type slow struct {
	*reference
}

const oneWay = 20 * time.Millisecond

func there() { time.Sleep(oneWay) }
func back()  { time.Sleep(oneWay) }

func (b slow) Claim(ctx context.Context, q idem.ClaimRequest) (idem.ClaimResult, error) {
	there()
	defer back()
	return b.reference.Claim(ctx, q)
}

func (b slow) Complete(ctx context.Context, c idem.Completion) (bool, error) {
	there()
	defer back()
	return b.reference.Complete(ctx, c)
}

func (b slow) Release(ctx context.Context, key string, fence idem.Fence) (bool, error) {
	there()
	defer back()
	return b.reference.Release(ctx, key, fence)
}

func (b slow) Extend(ctx context.Context, x []idem.Extension) ([]bool, error) {
	there()
	defer back()
	return b.reference.Extend(ctx, x)
}

func (b slow) Lookup(ctx context.Context, key string) (idem.Record, bool, error) {
	there()
	defer back()
	return b.reference.Lookup(ctx, key)
}

func (b slow) Sweep(ctx context.Context, limit int) (int, error) {
	there()
	defer back()
	return b.reference.Sweep(ctx, limit)
}

// Where time cannot be moved, a backend that is right but slow passes.
func TestSuitePassesWhatIsSlow(t *testing.T) {
	c := Config{Open: func(testing.TB) idem.Backend { return slow{newReference(faultless)} }}
	for _, check := range checks {
		t.Run(check.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if err := c.check(t, check); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
