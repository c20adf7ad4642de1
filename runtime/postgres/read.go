package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	idem "github.com/idemgen/idem/runtime"
)

// Lookup implements idem.Backend. It takes one round trip and no lock.
func (b *Backend) Lookup(ctx context.Context, key string) (r idem.Record, found bool, err error) {
	answer, err := b.lookups.do(ctx, key)
	if err != nil || !answer.found {
		return idem.Record{}, false, err
	}
	if r, err = answer.row.record(key, answer.state); err != nil {
		return idem.Record{}, false, err
	}
	return r, true, nil
}

type lookupResult struct {
	row   row
	state string
	found bool
}

func (b *Backend) sendLookups(ctx context.Context, keys []string) ([]lookupResult, error) {
	stored := make([]string, len(keys))
	for i, key := range keys {
		stored[i] = storedKey(key)
	}
	text, args := b.sql.lookupMany, []any{stored}
	if len(keys) == 1 {
		text, args = b.sql.lookupOne, []any{stored[0]}
	}
	results := make([]lookupResult, len(keys))
	err := query(ctx, b.db, text, args, func() { clear(results) }, func(rows pgx.Rows) error {
		var n int
		answer := lookupResult{found: true}
		r := &answer.row
		err := rows.Scan(&n, &answer.state, &r.fence, &r.attempt, &r.fingerprint, &r.result,
			&r.now, &r.claimed, &r.leaseUntil, &r.expires)
		if err != nil {
			return err
		}
		results[n-1] = answer
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// Sweep implements idem.Backend. Rows that somebody has locked are left for
// the next time.
func (b *Backend) Sweep(ctx context.Context, limit int) (deleted int, err error) {
	return detached(ctx, b.timeout, func(ctx context.Context) (n int, err error) {
		err = query(ctx, b.db, b.sql.sweep, []any{int64(max(limit, 0))}, func() {}, func(rows pgx.Rows) error {
			return rows.Scan(&n)
		})
		return n, err
	})
}
