package postgres

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	idem "github.com/idemgen/idem/runtime"
)

// Complete implements idem.Backend. It takes one round trip.
func (b *Backend) Complete(ctx context.Context, c idem.Completion) (held bool, err error) {
	return b.completes.do(ctx, c)
}

// A releaseRequest names a claim to give back.
type releaseRequest struct {
	key   string
	fence idem.Fence
}

// Release implements idem.Backend. It takes one round trip. For a minute, the
// row stays in the table in the state released, without result.
func (b *Backend) Release(ctx context.Context, key string, fence idem.Fence) (held bool, err error) {
	return b.releases.do(ctx, releaseRequest{key, fence})
}

// Extend implements idem.Backend. It takes one round trip for all claims.
func (b *Backend) Extend(ctx context.Context, x []idem.Extension) (held []bool, err error) {
	if len(x) == 0 {
		return nil, nil
	}
	order := byKey(x, func(e idem.Extension) (string, idem.Fence) { return e.Key, e.Fence })
	keys, fences, leases := make([]string, len(x)), make([]int64, len(x)), make([]int64, len(x))
	for i, o := range order {
		keys[i], fences[i], leases[i] = o.key, int64(o.fence), micros(x[o.place].Lease)
	}
	return detached(ctx, b.timeout, func(ctx context.Context) ([]bool, error) {
		return write(ctx, b.db, b.sql.extend, []any{keys, fences, leases}, order)
	})
}

func (b *Backend) sendCompletions(ctx context.Context, cs []idem.Completion) ([]bool, error) {
	return sendCompletions(ctx, b.db, &b.sql, cs)
}

func sendCompletions(ctx context.Context, db DB, sql *statements, cs []idem.Completion) ([]bool, error) {
	order := byKey(cs, func(c idem.Completion) (string, idem.Fence) { return c.Key, c.Fence })
	if len(cs) == 1 {
		args := []any{order[0].key, int64(cs[0].Fence), cs[0].Result, keptMicros(cs[0].TTL)}
		return write(ctx, db, sql.completeOne, args, order)
	}
	n := len(cs)
	keys, fences, results, ttls := make([]string, n), make([]int64, n), make([][]byte, n), make([]int64, n)
	for i, o := range order {
		c := &cs[o.place]
		keys[i], fences[i], results[i], ttls[i] = o.key, int64(o.fence), c.Result, keptMicros(c.TTL)
	}
	return write(ctx, db, sql.completeMany, []any{keys, fences, results, ttls}, order)
}

func (b *Backend) sendReleases(ctx context.Context, rs []releaseRequest) ([]bool, error) {
	return sendReleases(ctx, b.db, &b.sql, rs)
}

func sendReleases(ctx context.Context, db DB, sql *statements, rs []releaseRequest) ([]bool, error) {
	order := byKey(rs, func(r releaseRequest) (string, idem.Fence) { return r.key, r.fence })
	if len(rs) == 1 {
		return write(ctx, db, sql.releaseOne, []any{order[0].key, int64(rs[0].fence)}, order)
	}
	keys, fences := make([]string, len(rs)), make([]int64, len(rs))
	for i, o := range order {
		keys[i], fences[i] = o.key, int64(o.fence)
	}
	return write(ctx, db, sql.releaseMany, []any{keys, fences}, order)
}

// A placed is the claim that a request is about, with its key as stored, and
// the request's place among those that came together.
type placed struct {
	key   string
	fence idem.Fence
	place int
}

// byKey returns the requests in the order in which all statements lock rows.
func byKey[Q any](requests []Q, claim func(Q) (string, idem.Fence)) []placed {
	order := make([]placed, len(requests))
	for i, r := range requests {
		key, fence := claim(r)
		order[i] = placed{storedKey(key), fence, i}
	}
	slices.SortFunc(order, comparePlaced)
	return order
}

// write runs a statement that returns a row for each claim that was held. Of
// several requests about one claim it returns any.
func write(ctx context.Context, db DB, text string, args []any, order []placed) ([]bool, error) {
	held := make([]bool, len(order)) // by place
	err := query(ctx, db, text, args, func() { clear(held) }, func(rows pgx.Rows) error {
		var n int
		var notified *string
		if err := rows.Scan(&n, &notified); err != nil {
			return err
		}
		first, _ := slices.BinarySearchFunc(order, order[n-1], comparePlaced)
		for _, o := range order[first:] {
			if comparePlaced(o, order[n-1]) != 0 {
				break
			}
			held[o.place] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return held, nil
}

// comparePlaced orders by claim.
func comparePlaced(a, b placed) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.fence, b.fence))
}
