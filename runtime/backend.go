package idem

import (
	"context"
	"math"
	"time"
)

// Forever is the duration of a record that never expires.
const Forever time.Duration = math.MaxInt64

// An Owner is 128 random bits that a claimant makes before it first asks for
// a claim. A claim whose answer was lost is sent again with the same owner,
// which is how the claimant recognises a record that it already holds.
type Owner [16]byte

// A Fence numbers a claim. The backend gives it; it only grows, and no two
// claims of a backend ever have the same one, so a system downstream can
// reject whoever carries a smaller number than it has already seen.
type Fence int64

// State is what a record says of its key.
type State uint8

// The states of a record. The zero State is none of them: a backend that reads
// a state it does not know must return an error.
const (
	Pending   State = iota + 1 // claimed, outcome not recorded
	Completed                  // outcome recorded in Result
)

// String returns the state in a word.
func (s State) String() string {
	switch s {
	case Pending:
		return "pending"
	case Completed:
		return "completed"
	default:
		return "unknown"
	}
}

// A Record is what a backend keeps of one key. All times are durations
// measured by the backend's clock when it answered.
type Record struct {
	State   State
	Fence   Fence
	Attempt int // 1 for the first claim, one more at each takeover

	Fingerprint []byte // of the arguments; empty if unknown
	Result      []byte // opaque to the backend; set when Completed

	Age       time.Duration // since the claim was won
	LeaseLeft time.Duration // Pending: until the lease ends, negative once it lapsed
	TTLLeft   time.Duration // Completed: until the record expires, or Forever
}

// A ClaimRequest asks for the exclusive right to execute a key.
type ClaimRequest struct {
	Key         string
	Owner       Owner
	Fingerprint []byte

	// Lease is how long the holder is believed alive without a sign of it.
	Lease time.Duration

	// Retention is how long a pending record is kept after its first lease
	// ended, or Forever.
	Retention time.Duration

	// Takeover lets the claimant win a pending record whose lease lapsed.
	Takeover bool

	// Replace, when not zero, wins the record that has this fence, whatever
	// its state, lease and fingerprint, and nothing else: an operator settles
	// exactly the record that he saw.
	Replace Fence

	// Waiting says that the claimant will wait if the record is pending, so a
	// backend that can wake waiters should do so when the record changes.
	Waiting bool
}

// ClaimStatus is the answer to a ClaimRequest.
type ClaimStatus uint8

// The answers to a claim.
const (
	// ClaimWon: the claimant holds Record.Fence. Record.Attempt is above 1,
	// and TakenOver set, if it took over a lapsed claim.
	ClaimWon ClaimStatus = iota + 1
	// ClaimPending: another owner holds a live lease.
	ClaimPending
	// ClaimCompleted: Record.Result holds the outcome.
	ClaimCompleted
	// ClaimConflict: the record has another fingerprint.
	ClaimConflict
	// ClaimInterrupted: the lease lapsed, and Takeover was not set.
	ClaimInterrupted
)

// A ClaimResult says who holds the key after a Claim. Unless the claim was
// won, Record is the one that stood in the way.
type ClaimResult struct {
	Status    ClaimStatus
	TakenOver bool
	Record    Record
}

// A Completion records the outcome of a claim.
type Completion struct {
	Key    string
	Fence  Fence
	Result []byte
	TTL    time.Duration // how long the record is kept from now on, or Forever
}

// An Extension renews one claim.
type Extension struct {
	Key   string
	Fence Fence
	Lease time.Duration // from now on; zero or less ends the lease at once
}

// A Backend keeps records. All methods are safe for concurrent use, take keys
// and results that hold any byte, measure time by the backend's clock alone,
// and leave nothing half done when they return an error. An error means that
// the outcome is unknown: the caller may send the same request again, and
// every method but Release gives the answer it would have given the first time.
//
// Slices are never changed once they were given away: a backend may keep those
// of a request, and hand out the same ones many times.
//
// A record is expired when it is completed and its TTL ended, or when it is
// pending and both its lease and its retention ended. An expired record counts
// as absent everywhere, swept or not.
//
// The package idemtest holds a conformance suite for implementations.
type Backend interface {
	// Claim decides, in one atomic step, who may execute a key. The first
	// rule that applies gives the answer:
	//
	//  1. Replace is set: won if a record has that fence, with a new fence and
	//     the record's own fingerprint, attempt one higher; otherwise the
	//     record's state decides as below, but nothing is won except what the
	//     same request won before (rule 3). An absent record is then answered
	//     as ClaimInterrupted with a zero Record.
	//  2. Absent or expired: won, attempt 1, new fence.
	//  3. Pending with the claimant's own owner: won again, with the same
	//     fence, attempt and TakenOver, and the lease counted from now.
	//  4. Both fingerprints are known and differ: ClaimConflict.
	//  5. Completed: ClaimCompleted.
	//  6. Pending and the lease is live: ClaimPending.
	//  7. Lapsed and Takeover is set: won, attempt one higher, new fence,
	//     TakenOver set, fingerprint kept or, if unknown, taken from the request.
	//  8. Lapsed: ClaimInterrupted.
	//
	// Of any number of concurrent claimants at most one wins.
	Claim(ctx context.Context, r ClaimRequest) (ClaimResult, error)

	// Complete records the outcome of the claim that has key and fence,
	// whether or not its lease lapsed. held is false, and nothing changed, if
	// no such claim exists any more. Completing twice with one fence reports
	// held again and keeps the first result.
	Complete(ctx context.Context, c Completion) (held bool, err error)

	// Release deletes the record that has key and fence, whatever its state,
	// so that the next claim starts afresh. Releasing twice with one fence
	// deletes nothing more, and reports not held, as nothing is left.
	Release(ctx context.Context, key string, fence Fence) (held bool, err error)

	// Extend renews many claims in one step and reports, for each, whether
	// key and fence still stand together. A lapsed claim that nobody took over
	// is renewed; a completed one is reported held and left as it is.
	Extend(ctx context.Context, x []Extension) (held []bool, err error)

	// Lookup returns the record of key. found is false if it is absent or
	// expired.
	Lookup(ctx context.Context, key string) (r Record, found bool, err error)

	// Sweep deletes at most limit expired records and reports how many. It
	// blocks nobody, and never deletes a record that was claimed again in
	// between.
	Sweep(ctx context.Context, limit int) (deleted int, err error)
}

// A Notifier is a Backend that can tell waiters of other processes that a
// record changed. The store asks for it once, in New.
type Notifier interface {
	// Watch begins to watch key. changed receives or is closed when the record
	// may have changed: at a completion, a release, or whenever the backend
	// cannot exclude it. A nil channel means that nothing can be watched now,
	// so that the caller polls. The caller must call stop.
	//
	// A change between the return of Watch and the next Claim with Waiting
	// set is not lost.
	Watch(key string) (changed <-chan struct{}, stop func())
}

// A Local backend answers from this process's memory: its methods do not
// block, and need no timeout and no goroutine of their own.
type Local interface {
	Local()
}
