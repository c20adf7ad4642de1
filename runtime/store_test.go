package idem_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

type receipt struct {
	ID    string
	Lines []string
}

func copyReceipt(r receipt) receipt {
	if r.Lines != nil {
		r.Lines = append([]string{}, r.Lines...)
	}
	return r
}

// service is a method as generated code would wrap it, with its executions
// counted.
type service struct {
	method *idem.Method[receipt]
	runs   atomic.Int64
	charge func(ctx context.Context, id string, run int64) (receipt, error)
}

func newService(store *idem.Store, o idem.MethodOptions[receipt]) *service {
	if o.Operation == "" {
		o.Operation = "charge"
	}
	o.Parts, o.Arguments = []string{"id"}, []string{"amount"}
	s := &service{method: idem.NewMethod(store, o)}
	s.charge = func(_ context.Context, id string, run int64) (receipt, error) {
		return receipt{ID: id, Lines: []string{"line"}}, nil
	}
	return s
}

func (s *service) Charge(ctx context.Context, id, amount string) (receipt, error) {
	var key idem.KeyBuilder
	key.String(id)
	var fp idem.FingerprintBuilder
	fp.Arg(0)
	fp.String(amount)
	return s.method.Run(ctx, &key, &fp, func(ctx context.Context) (receipt, error) {
		return s.charge(ctx, id, s.runs.Add(1))
	})
}

func closeStore(t *testing.T, s *idem.Store) {
	t.Helper()
	if err := s.Close(context.Background()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestRetryReplays(t *testing.T) {
	for name, o := range map[string]idem.MethodOptions[receipt]{
		"copied":  {Copy: copyReceipt},
		"decoded": {},
	} {
		t.Run(name, func(t *testing.T) {
			store := idem.New(memory.New())
			defer closeStore(t, store)
			s := newService(store, o)
			first, err := s.Charge(t.Context(), "r-1", "10")
			if err != nil {
				t.Fatal(err)
			}
			first.Lines[0] = "changed by the caller"
			second, err := s.Charge(t.Context(), "r-1", "10")
			if err != nil || second.ID != "r-1" || second.Lines[0] != "line" {
				t.Errorf("replay = %+v, %v", second, err)
			}
			if n := s.runs.Load(); n != 1 {
				t.Errorf("%d executions, want 1", n)
			}
			if _, err := s.Charge(t.Context(), "r-1", "11"); !errors.Is(err, idem.ErrKeyReused) {
				t.Errorf("other amount: %v, want ErrKeyReused", err)
			}
		})
	}
}

func TestConcurrentCallersJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := idem.New(memory.New())
		defer closeStore(t, store)
		s := newService(store, idem.MethodOptions[receipt]{Copy: copyReceipt})
		s.charge = func(ctx context.Context, id string, _ int64) (receipt, error) {
			time.Sleep(time.Minute)
			return receipt{ID: id, Lines: []string{"line"}}, nil
		}
		var wg sync.WaitGroup
		results := make([]receipt, 100)
		for i := range results {
			wg.Go(func() {
				var err error
				if results[i], err = s.Charge(t.Context(), "r-1", "10"); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for i, r := range results {
			if r.Lines[0] != "line" {
				t.Fatalf("caller %d shares its result with another", i)
			}
			r.Lines[0] = "mine"
		}
		if n := s.runs.Load(); n != 1 {
			t.Errorf("%d executions, want 1", n)
		}
	})
}
