package postgres

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	idem "github.com/idemgen/idem/runtime"
)

// A fixture is a backend whose calls fail the test when they fail.
type fixture struct {
	*Backend
	t      testing.TB
	direct *pgxpool.Pool // to the server itself, for the test's own statements
	opts   []Option
	names  names
}

func newOwner() idem.Owner {
	var o idem.Owner
	_, _ = rand.Read(o[:]) // never fails
	return o
}

// request returns a usual claim of key by a new owner.
func request(key string) idem.ClaimRequest {
	return idem.ClaimRequest{
		Key: key, Owner: newOwner(), Fingerprint: []byte("print"),
		Lease: time.Minute, Retention: time.Hour, Takeover: true,
	}
}

func (f *fixture) claim(r idem.ClaimRequest) idem.ClaimResult {
	f.t.Helper()
	result, err := f.Claim(f.t.Context(), r)
	if err != nil {
		f.t.Fatal(err)
	}
	return result
}

// win claims key and returns its fence.
func (f *fixture) win(key string) idem.Fence {
	f.t.Helper()
	result := f.claim(request(key))
	if result.Status != idem.ClaimWon {
		f.t.Fatalf("claim of %q: status %d", key, result.Status)
	}
	return result.Record.Fence
}

func (f *fixture) complete(key string, fence idem.Fence, result string) bool {
	f.t.Helper()
	held, err := f.Complete(f.t.Context(), idem.Completion{Key: key, Fence: fence, Result: []byte(result), TTL: time.Hour})
	if err != nil {
		f.t.Fatal(err)
	}
	return held
}

func (f *fixture) release(key string, fence idem.Fence) bool {
	f.t.Helper()
	held, err := f.Release(f.t.Context(), key, fence)
	if err != nil {
		f.t.Fatal(err)
	}
	return held
}

func (f *fixture) extend(key string, fence idem.Fence, lease time.Duration) bool {
	f.t.Helper()
	held, err := f.Extend(f.t.Context(), []idem.Extension{{Key: key, Fence: fence, Lease: lease}})
	if err != nil {
		f.t.Fatal(err)
	}
	return held[0]
}

func (f *fixture) lookup(key string) (idem.Record, bool) {
	f.t.Helper()
	r, found, err := f.Lookup(f.t.Context(), key)
	if err != nil {
		f.t.Fatal(err)
	}
	return r, found
}

func (f *fixture) sweep(limit int) int {
	f.t.Helper()
	n, err := f.Sweep(f.t.Context(), limit)
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

// exec runs a statement that names the table as the migrations do.
func (f *fixture) exec(statement string, args ...any) {
	f.t.Helper()
	if _, err := f.direct.Exec(f.t.Context(), f.names.render(statement), args...); err != nil {
		f.t.Fatal(err)
	}
}

// number returns the one number that a query answers.
func (f *fixture) number(query string, args ...any) (n int64) {
	f.t.Helper()
	if err := f.direct.QueryRow(f.t.Context(), f.names.render(query), args...).Scan(&n); err != nil {
		f.t.Fatal(err)
	}
	return n
}

// fence returns the fence of key.
func (f *fixture) fence(key string) idem.Fence {
	f.t.Helper()
	return idem.Fence(f.number("SELECT fence FROM idem_records WHERE key = $1", key))
}

// pass lets d pass, by moving the records into the past.
func (f *fixture) pass(d time.Duration) {
	f.t.Helper()
	f.exec(`UPDATE idem_records SET claimed_at = claimed_at - $1::interval,
		lease_until = lease_until - $1::interval, expires_at = expires_at - $1::interval,
		sweep_at = sweep_at - $1::interval`, d)
}
