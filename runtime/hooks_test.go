package idem_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

// hooked is a backend that a test can make fail. It is not a Local one, so the
// store treats it as it treats a database. A nil hook lets the call through.
type hooked struct {
	backend *memory.Backend

	mu       sync.Mutex
	calls    map[string]int
	claim    func(ctx context.Context, r idem.ClaimRequest) (idem.ClaimResult, error)
	complete func(ctx context.Context, c idem.Completion) (bool, error)
	release  func(ctx context.Context, key string, f idem.Fence) (bool, error)
	extend   func(ctx context.Context, x []idem.Extension) ([]bool, error)
	lookup   func(ctx context.Context, key string) (idem.Record, bool, error)
	sweep    func(ctx context.Context, limit int) (int, error)
}

var errDown = errors.New("the database is down")

func newHooked() *hooked { return &hooked{backend: memory.New(), calls: map[string]int{}} }

// set changes hooks while calls run.
func (h *hooked) set(change func(h *hooked)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h)
}

// count returns how often a method was called.
func (h *hooked) count(method string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls[method]
}

func hookOf[F any](h *hooked, method string, field *F) F {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls[method]++
	return *field
}

func (h *hooked) Claim(ctx context.Context, r idem.ClaimRequest) (idem.ClaimResult, error) {
	if f := hookOf(h, "claim", &h.claim); f != nil {
		return f(ctx, r)
	}
	return h.backend.Claim(ctx, r)
}

func (h *hooked) Complete(ctx context.Context, c idem.Completion) (bool, error) {
	if f := hookOf(h, "complete", &h.complete); f != nil {
		return f(ctx, c)
	}
	return h.backend.Complete(ctx, c)
}

func (h *hooked) Release(ctx context.Context, key string, fence idem.Fence) (bool, error) {
	if f := hookOf(h, "release", &h.release); f != nil {
		return f(ctx, key, fence)
	}
	return h.backend.Release(ctx, key, fence)
}

func (h *hooked) Extend(ctx context.Context, x []idem.Extension) ([]bool, error) {
	if f := hookOf(h, "extend", &h.extend); f != nil {
		return f(ctx, x)
	}
	return h.backend.Extend(ctx, x)
}

func (h *hooked) Lookup(ctx context.Context, key string) (idem.Record, bool, error) {
	if f := hookOf(h, "lookup", &h.lookup); f != nil {
		return f(ctx, key)
	}
	return h.backend.Lookup(ctx, key)
}

func (h *hooked) Sweep(ctx context.Context, limit int) (int, error) {
	if f := hookOf(h, "sweep", &h.sweep); f != nil {
		return f(ctx, limit)
	}
	return h.backend.Sweep(ctx, limit)
}

// die claims key as a process would that dies at once.
func die(t *testing.T, b idem.Backend, key string, lease time.Duration) idem.Fence {
	t.Helper()
	r, err := b.Claim(t.Context(), idem.ClaimRequest{
		Key: key, Owner: idem.Owner{0xdd}, Lease: lease, Retention: idem.Forever, Takeover: true,
	})
	if err != nil || r.Status != idem.ClaimWon {
		t.Fatalf("claim for a dying holder: %+v, %v", r, err)
	}
	return r.Record.Fence
}

// events is an observer that keeps what it is told.
type events struct {
	mu   sync.Mutex
	list []idem.Event
}

func (o *events) Observe(_ context.Context, e idem.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, e)
}

func (o *events) kinds() []idem.EventKind {
	o.mu.Lock()
	defer o.mu.Unlock()
	var kinds []idem.EventKind
	for _, e := range o.list {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// find returns the first event of a kind.
func (o *events) find(kind idem.EventKind) (idem.Event, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.IndexFunc(o.list, func(e idem.Event) bool { return e.Kind == kind })
	if i < 0 {
		return idem.Event{}, false
	}
	return o.list[i], true
}

func (o *events) want(t *testing.T, kinds ...idem.EventKind) {
	t.Helper()
	if got := o.kinds(); !slices.Equal(got, kinds) {
		t.Errorf("events %v, want %v", got, kinds)
	}
}
