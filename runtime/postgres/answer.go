package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5"

	idem "github.com/idemgen/idem/runtime"
)

// A row is what statements answer of a record. Durations are microseconds.
type row struct {
	state       string
	fence       int64
	attempt     int
	fingerprint []byte
	result      []byte
	age         int64
	leaseLeft   int64
	ttlLeft     *int64 // nil: for ever
}

// record returns the row as a record of key.
func (r *row) record(key string) (idem.Record, error) {
	record := idem.Record{
		Fence:       idem.Fence(r.fence),
		Attempt:     r.attempt,
		Fingerprint: r.fingerprint,
		Age:         fromMicros(r.age),
	}
	switch r.state {
	case "pending":
		record.State = idem.Pending
		record.LeaseLeft = fromMicros(r.leaseLeft)
	case "completed":
		record.State = idem.Completed
		record.Result = r.result
		record.TTLLeft = keptFromMicros(r.ttlLeft)
	default:
		return idem.Record{}, fmt.Errorf("postgres: %w: %s is in the state %q, which this program does not know", errUnreadable, key, r.state)
	}
	return record, nil
}

// A claimAnswer is a row that the claim statement returned.
type claimAnswer struct {
	row
	n       int
	verdict verdict
	key     string // of an inserted row
	owner   []byte // of an inserted row
}

func (a *claimAnswer) scan(rows pgx.Rows) error {
	var (
		n, fence, age, leaseLeft *int64
		attempt                  *int
		key, state               *string
	)
	err := rows.Scan(&n, &a.verdict, &key, &a.owner, &fence, &attempt, &a.fingerprint, &a.result, &age, &leaseLeft, &a.ttlLeft, &state)
	if err != nil {
		return err
	}
	a.n, a.key, a.fence = int(value(n)), value(key), value(fence)
	a.attempt, a.age, a.leaseLeft, a.state = value(attempt), value(age), value(leaseLeft), value(state)
	return nil
}

// value returns what p points to, or zero for a NULL.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

var statuses = map[verdict]idem.ClaimStatus{
	verdictInsert:      idem.ClaimWon,
	verdictReset:       idem.ClaimWon,
	verdictReplace:     idem.ClaimWon,
	verdictOwn:         idem.ClaimWon,
	verdictTakeover:    idem.ClaimWon,
	verdictNote:        idem.ClaimPending,
	verdictPending:     idem.ClaimPending,
	verdictCompleted:   idem.ClaimCompleted,
	verdictConflict:    idem.ClaimConflict,
	verdictInterrupted: idem.ClaimInterrupted,
	verdictGone:        idem.ClaimInterrupted,
}

// judge turns the answer into the result of a request.
func (a *claimAnswer) judge(c claimant, result *idem.ClaimResult) error {
	if a.verdict == verdictGone {
		result.Status = idem.ClaimInterrupted
		return nil
	}
	if a.verdict <= verdictNote {
		a.state = "pending"
	}
	record, err := a.record(c.Key)
	if err != nil {
		return err
	}
	*result = idem.ClaimResult{Status: statuses[a.verdict], Record: record}
	// A claim that was won by replacing is no takeover, also when it is sent
	// again and finds its own row.
	result.TakenOver = result.Status == idem.ClaimWon && c.Replace == 0 && record.Attempt > 1
	return nil
}
