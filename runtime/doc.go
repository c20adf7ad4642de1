// Package idem lives in the directory runtime and is always imported as
//
//	import idem "github.com/idemgen/idem/runtime"
//
// It makes calls idempotent: a retry, a concurrent duplicate or a redelivered
// message gets the result of the first call, and the side effect happens once.
//
// The methods of an interface are annotated, and the command idemgen writes a
// decorator that calls this package:
//
//	//idem:key req.CustomerID, req.OrderID
//	Charge(ctx context.Context, req ChargeRequest) (Receipt, error)
//
//	store := idem.New(memory.New())
//	payments := NewIdempotentPayments(stripePayments, store)
//
// Hand-written code calls [Do] on the same store.
//
// # What it promises
//
//   - Callers in one process: one execution at a time for each key. The others
//     join it without a round trip to the backend.
//   - Callers in several processes: one live lease for each key. The others wait,
//     or are told to try again.
//   - After a success every later call replays the recorded result until its
//     TTL ends.
//   - After a failure (an error, a panic, a cancelled context) nothing is
//     recorded, and the next call runs again.
//   - If the process that executes dies, its lease lapses. The next caller then
//     takes over and runs again, or, where the method says refuse, everybody
//     gets [ErrInterrupted] until an operator settles the key.
//
// It does not promise exactly one effect across a crash, unless the effect is
// in the backend's own database (see below): between the effect and the record
// of it, a process can die. What the executor can do about it is in its context:
// [ExecutionFrom] gives the key, the attempt and the fence, and
// [Execution.Child] keys to hand to systems that are idempotent themselves.
//
// # Keys and fingerprints
//
// A key is the operation's name and the key parts, escaped so that different
// arguments never give one key; see [KeyBuilder]. A fingerprint is a digest of
// the arguments; see [FingerprintBuilder]. A call whose key is known but whose
// fingerprint differs is a mistake of the caller, [ErrKeyReused].
//
// # The two layers
//
// In the process, the first caller of a key leads and all others follow it.
// A follower that is cancelled leaves alone. An error of the leader is also its
// followers', except when the leader's own context ended: then a follower
// takes the lead.
//
// In the [Backend], which processes share, a key has a record or none:
//
//	            claim                       complete
//	(absent) ───────────▶ pending ─────────────────────────▶ completed
//	   ▲                  │  ▲  │                                 │
//	   │     release      │  │  │ lease lapsed:                   │ TTL ended
//	   ├──────────────────┘  └──┘ claim takes over, with          │
//	   │                          a new fence, attempt + 1        │
//	   └──────────────────────────────────────────────────────────┘
//
// The backend is the authority, and its clock the only one: processes exchange
// durations with it, never points in time. A process's own clock decides two
// things only. When to renew a lease: at a third of it. And when to stop
// believing in it: when it has not been renewed for the whole of it, counted
// from before the last good renewal was sent, which is never later than when
// the backend lets others in. The executor's context is then cancelled with
// cause [ErrClaimLost].
//
// Every claim has a fence, a number that only grows. A holder that was taken
// over can change nothing, because completing, releasing and renewing name the
// fence; it gets the result that the new holder records. A holder whose lease
// lapsed but whom nobody replaced still completes.
//
// A claim names its owner, random bits made before it is first sent. If the
// answer is lost the claim is sent again, and the record it finds is its own.
//
// # When the backend fails
//
// At the claim: nothing runs, and the call returns a *[BackendError], unless the
// store was told to fail open ([WithFailOpen]). At the completion: the caller
// gets its result, this process replays it, and the completion is sent again
// until it lands; see [Unsettled]. No failure of the backend, and no result
// that cannot be encoded, makes a method run a second time by itself.
//
// # In one transaction
//
// A method with the directive //idem:tx, on a backend that is a [Transactor],
// runs in a transaction of the backend's database, which it finds in its
// context. The claim, what the method writes by that transaction, and the record
// of its result commit together, or nothing does. The claim is held by the
// transaction: there is no lease to renew or to wait for, a crash leaves
// nothing, and whoever calls with the same key meanwhile waits for the
// transaction. Nothing is told to other callers before the commit.
//
// The context may also carry a transaction of the caller's own. Then the call is
// a part of it, which a failure undoes alone, and which other callers see when
// the caller commits.
//
// The database can give up a transaction because of a concurrent one:
// [ErrSerialization]. A commit whose answer is lost is an unknown outcome, about
// which the database is asked before anything else happens; only where it does
// not tell is the error one of which [IsUncertain] is true. In both cases the
// same call can be made again.
//
// What the method does elsewhere is not in the transaction, and is done again if
// that was undone. Let it write down what is to be done, and have that done
// after the commit, under a child key.
//
// # What callers see
//
// [Advise] says what to do about an error: retry with the same key, use
// another, or do not retry. [WithOutcome] tells a caller whether its result
// was fresh, replayed or shared. An [Observer] is told of everything.
//
// Operators look at a key with [Store.Lookup], free it with [Store.Forget], and
// settle an interrupted one with [Store.Resolve].
package idem
