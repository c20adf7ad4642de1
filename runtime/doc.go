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
// It does not promise exactly one effect across a crash: between the effect
// and the record of it, a process can die. What the executor can do about it
// is in its context: [ExecutionFrom] gives the key, the attempt and the fence,
// and [Execution.Child] keys to hand to systems that are idempotent themselves.
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
// # What callers see
//
// [Advise] says what to do about an error: retry with the same key, use
// another, or do not retry. [WithOutcome] tells a caller whether its result
// was fresh, replayed or shared. An [Observer] is told of everything.
//
// Operators look at a key with [Store.Lookup], free it with [Store.Forget], and
// settle an interrupted one with [Store.Resolve].
package idem
