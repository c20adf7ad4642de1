package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	idem "github.com/idemgen/idem/runtime"
)

// maxAsks bounds how often a claim is asked again that has met somebody else's
// each time.
const maxAsks = 20

var (
	// errUnreadable: what the server says of a record is no answer, and will
	// not be if asked again.
	errUnreadable = errors.New("unreadable record")
	// errRestless: a record has changed each time that it was claimed.
	errRestless = errors.New("the record keeps changing")
)

// Claim implements idem.Backend. It takes one round trip, and another one each
// time that the row changed between being read and being written.
func (b *Backend) Claim(ctx context.Context, r idem.ClaimRequest) (idem.ClaimResult, error) {
	return b.claims.do(ctx, r)
}

func (b *Backend) sendClaims(ctx context.Context, requests []idem.ClaimRequest) ([]idem.ClaimResult, error) {
	return askClaims(ctx, b.db, &b.sql, requests)
}

// A claimant is a request on its way, and its place among those that came
// with it.
type claimant struct {
	*idem.ClaimRequest
	key   string // as stored
	place int
}

// askClaims sends requests until each has its answer.
func askClaims(ctx context.Context, db DB, sql *statements, requests []idem.ClaimRequest) ([]idem.ClaimResult, error) {
	results := make([]idem.ClaimResult, len(requests))
	asking := make([]claimant, len(requests))
	for i := range requests {
		asking[i] = claimant{ClaimRequest: &requests[i], key: storedKey(requests[i].Key), place: i}
	}
	// All statements lock rows in this order, so that none waits for another
	// that waits for it.
	slices.SortFunc(asking, claimant.compare)
	for range maxAsks {
		if err := askOnce(ctx, db, sql, asking, results); err != nil {
			return nil, err
		}
		asking = slices.DeleteFunc(asking, func(c claimant) bool { return results[c.place].Status != 0 })
		if len(asking) == 0 {
			return results, nil
		}
	}
	return nil, fmt.Errorf("postgres: %s: %w", asking[0].key, errRestless)
}

func (c claimant) compare(d claimant) int {
	return cmp.Or(cmp.Compare(c.key, d.key), bytes.Compare(c.Owner[:], d.Owner[:]))
}

// askOnce sends the requests in one statement and fills in the results of
// those that were answered.
func askOnce(ctx context.Context, db DB, sql *statements, asking []claimant, results []idem.ClaimResult) error {
	text, args := claimArguments(sql, asking)
	err := query(ctx, db, text, args, func() {
		for _, c := range asking {
			results[c.place] = idem.ClaimResult{}
		}
	}, func(rows pgx.Rows) error {
		var a claimAnswer
		if err := a.scan(rows, len(asking) > 1); err != nil {
			return err
		}
		for _, c := range a.addressees(asking) {
			var err error
			if results[c.place], err = a.judge(c); err != nil {
				return err
			}
		}
		return nil
	})
	if len(asking) == 1 && sqlState(err) == lockNotAvailable {
		results[asking[0].place] = lockedResult
		return nil
	}
	return err
}

// addressees returns whom of those who asked a answers. An inserted row is for
// all who asked for its key with its owner.
func (a *claimAnswer) addressees(asking []claimant) []claimant {
	if a.n > 0 {
		return asking[a.n-1 : a.n]
	}
	first, _ := slices.BinarySearchFunc(asking, a, claimant.compareAnswer)
	last := first
	for last < len(asking) && asking[last].compareAnswer(a) == 0 {
		last++
	}
	return asking[first:last]
}

func (c claimant) compareAnswer(a *claimAnswer) int {
	return cmp.Or(cmp.Compare(c.key, a.key), bytes.Compare(c.Owner[:], a.owner))
}

// lockedResult answers a claim whose row another transaction has held locked
// for longer than statements wait: somebody is at it, and it is not known who.
var lockedResult = idem.ClaimResult{
	Status: idem.ClaimPending,
	Record: idem.Record{State: idem.Pending, Attempt: 1, LeaseLeft: time.Second},
}

func claimArguments(sql *statements, asking []claimant) (text string, args []any) {
	if len(asking) == 1 {
		c := asking[0]
		return sql.claimOne, []any{
			c.key, c.Owner[:], known(c.Fingerprint), micros(c.Lease), keptMicros(c.Retention), int64(c.Replace), c.flags(),
		}
	}
	n := len(asking)
	keys, owners, fingerprints := make([]string, n), make([][]byte, n), make([][]byte, n)
	leases, retentions, replaces, flags := make([]int64, n), make([]int64, n), make([]int64, n), make([]int32, n)
	for i, c := range asking {
		keys[i], owners[i], fingerprints[i] = c.key, c.Owner[:], known(c.Fingerprint)
		leases[i], retentions[i], replaces[i], flags[i] = micros(c.Lease), keptMicros(c.Retention), int64(c.Replace), c.flags()
	}
	return sql.claimMany, []any{keys, owners, fingerprints, leases, retentions, replaces, flags}
}

// known returns a fingerprint as the table keeps it, where none is empty and
// not NULL.
func known(fingerprint []byte) []byte {
	if fingerprint == nil {
		return []byte{}
	}
	return fingerprint
}

func (c claimant) flags() int32 {
	var flags int32
	if c.Takeover {
		flags |= flagTakeover
	}
	if c.Waiting {
		flags |= flagWaiting
	}
	return flags
}
