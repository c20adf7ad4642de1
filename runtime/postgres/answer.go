package postgres

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	idem "github.com/idemgen/idem/runtime"
)

// A row is what statements answer of a record. Times are the database's, and
// only what lies between them is of use here.
type row struct {
	fence       int64
	attempt     int
	fingerprint []byte
	result      []byte
	now         time.Time
	claimed     time.Time
	leaseUntil  time.Time
	expires     *time.Time // nil: never
}

// pending returns the row as a record that is claimed.
func (r *row) pending() idem.Record {
	return idem.Record{
		State:       idem.Pending,
		Fence:       idem.Fence(r.fence),
		Attempt:     r.attempt,
		Fingerprint: r.fingerprint,
		Age:         r.now.Sub(r.claimed),
		LeaseLeft:   r.leaseUntil.Sub(r.now),
	}
}

// completed returns the row as a record whose outcome is known.
func (r *row) completed() idem.Record {
	record := r.pending()
	record.State = idem.Completed
	record.Result = r.result
	record.LeaseLeft = 0
	record.TTLLeft = idem.Forever
	if r.expires != nil {
		record.TTLLeft = r.expires.Sub(r.now)
	}
	return record
}

// record returns the row as a record in the state that the table names.
func (r *row) record(key, state string) (idem.Record, error) {
	switch state {
	case "pending":
		return r.pending(), nil
	case "completed":
		return r.completed(), nil
	default:
		return idem.Record{}, unknownState(key)
	}
}

func unknownState(key string) error {
	return fmt.Errorf("postgres: %w: %s is in a state that this program does not know", errUnreadable, key)
}

// A claimAnswer is a row that the claim statement returned.
type claimAnswer struct {
	row
	verdict verdict

	// Of which of many requests: the number, or, of an inserted row, key and
	// owner.
	n     int
	key   string
	owner []byte
}

// scan reads an answer to one request or to many.
func (a *claimAnswer) scan(rows pgx.Rows, many bool) error {
	if !many {
		a.n = 1
		return rows.Scan(a.fields()...)
	}
	var n *int
	var key *string
	if err := rows.Scan(append([]any{&n, &key, &a.owner}, a.fields()...)...); err != nil {
		return err
	}
	if n != nil {
		a.n = *n
	}
	if key != nil {
		a.key = *key
	}
	return nil
}

func (a *claimAnswer) fields() []any {
	return []any{
		&a.verdict, &a.fence, &a.attempt, &a.fingerprint, &a.result, &a.now, &a.claimed, &a.leaseUntil, &a.expires,
	}
}

var statuses = map[verdict]idem.ClaimStatus{
	verdictInsert:       idem.ClaimWon,
	verdictReset:        idem.ClaimWon,
	verdictReplace:      idem.ClaimWon,
	verdictOwn:          idem.ClaimWon,
	verdictTakeover:     idem.ClaimWon,
	verdictNote:         idem.ClaimPending,
	verdictPending:      idem.ClaimPending,
	verdictCompleted:    idem.ClaimCompleted,
	verdictConflict:     idem.ClaimConflict,
	verdictConflictDone: idem.ClaimConflict,
	verdictInterrupted:  idem.ClaimInterrupted,
	verdictGone:         idem.ClaimInterrupted,
}

// judge turns the answer into the result of a request.
func (a *claimAnswer) judge(c claimant) (idem.ClaimResult, error) {
	result := idem.ClaimResult{Status: statuses[a.verdict]}
	switch a.verdict {
	case verdictUnknown:
		return result, unknownState(c.Key)
	case verdictGone:
		return result, nil
	case verdictInsert:
		a.fingerprint = c.Fingerprint
	}
	if a.verdict == verdictCompleted || a.verdict == verdictConflictDone {
		result.Record = a.completed()
		return result, nil
	}
	result.Record = a.pending()
	// A claim that was won by replacing is no takeover, also when it is sent
	// again and finds its own row.
	result.TakenOver = result.Status == idem.ClaimWon && c.Replace == 0 && a.attempt > 1
	return result, nil
}
