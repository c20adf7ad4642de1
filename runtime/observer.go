package idem

import (
	"context"
	"log/slog"
	"time"
)

// EventKind says what happened.
type EventKind uint8

// What an Observer is told. Each call of a method ends in exactly one of
// Executed, Recovered, Replayed, Joined, Released, Conflicted, Rejected, Interrupted,
// Uncertained, Unprotected or Failed; the others accompany them.
const (
	Executed    EventKind = iota + 1 // the method ran and its result was recorded; Duration of the method
	Recovered                        // the effect of a holder that had fallen silent was found, and its result recorded
	Replayed                         // a recorded result was returned
	Joined                           // the call shared an execution of this process; Duration of the wait
	Released                         // the method failed and its claim was given back; Duration of the method
	Conflicted                       // the key was used for other arguments
	Rejected                         // another process holds the key, and the call does not wait (longer)
	Interrupted                      // an earlier execution's outcome is unknown, and the method refuses to run again
	Uncertained                      // the executor could not tell its outcome; its lease was ended
	Unprotected                      // the method ran without a claim: empty optional key, or fail-open
	Failed                           // the call ended before the method ran; Err says why

	Waited    // the call waited for another process; Duration of the wait
	TakenOver // the claim of a holder that fell silent was taken over; Age of that claim
	Lost      // a claim could not be renewed in time or was taken over
	Unsettled // the method ran, but its result is not recorded yet; Err says why
	Settled   // a result that had been unsettled was recorded after all
	Swept     // expired records were deleted; Count of them
	Faulted   // bookkeeping beside the calls failed (heartbeat, sweep, release); Err says how
)

var eventNames = [...]string{
	Executed: "executed", Recovered: "recovered", Replayed: "replayed", Joined: "joined", Released: "released",
	Conflicted: "conflicted", Rejected: "rejected", Interrupted: "interrupted",
	Uncertained: "uncertain", Unprotected: "unprotected", Failed: "failed",
	Waited: "waited", TakenOver: "taken over", Lost: "lost", Unsettled: "unsettled",
	Settled: "settled", Swept: "swept", Faulted: "faulted",
}

// String returns the kind in lower-case words.
func (k EventKind) String() string {
	if int(k) < len(eventNames) && eventNames[k] != "" {
		return eventNames[k]
	}
	return "unknown"
}

// An Event is one thing that happened in a store. Fields that do not apply
// are zero. It holds no argument and no result, other than as part of the key.
type Event struct {
	Kind      EventKind
	Operation string
	Key       string
	Attempt   int
	Fence     Fence
	Duration  time.Duration
	Age       time.Duration
	Count     int
	Err       error
}

// An Observer is told what happens in a store. Observe is called on the
// caller's goroutine, concurrently, and must return soon.
type Observer interface {
	Observe(ctx context.Context, e Event)
}

// ObserverFunc is a function as an Observer.
type ObserverFunc func(ctx context.Context, e Event)

// Observe calls f.
func (f ObserverFunc) Observe(ctx context.Context, e Event) { f(ctx, e) }

// SlogObserver logs events to log: what needs a person at Error (Unsettled,
// Interrupted), what may at Warn, everything else at Debug.
func SlogObserver(log *slog.Logger) Observer {
	return ObserverFunc(func(ctx context.Context, e Event) {
		level := eventLevel(e.Kind)
		if !log.Enabled(ctx, level) {
			return
		}
		attrs := make([]slog.Attr, 0, 8)
		if e.Operation != "" {
			attrs = append(attrs, slog.String("operation", e.Operation))
		}
		if e.Key != "" {
			attrs = append(attrs, slog.String("key", e.Key))
		}
		if e.Attempt != 0 {
			attrs = append(attrs, slog.Int("attempt", e.Attempt), slog.Int64("fence", int64(e.Fence)))
		}
		if e.Duration != 0 {
			attrs = append(attrs, slog.Duration("duration", e.Duration))
		}
		if e.Age != 0 {
			attrs = append(attrs, slog.Duration("age", e.Age))
		}
		if e.Count != 0 {
			attrs = append(attrs, slog.Int("count", e.Count))
		}
		if e.Err != nil {
			attrs = append(attrs, slog.Any("error", e.Err))
		}
		log.LogAttrs(ctx, level, "idem: "+e.Kind.String(), attrs...)
	})
}

func eventLevel(k EventKind) slog.Level {
	switch k {
	case Unsettled, Interrupted:
		return slog.LevelError
	case Conflicted, Uncertained, TakenOver, Lost, Faulted, Unprotected, Failed:
		return slog.LevelWarn
	default:
		return slog.LevelDebug
	}
}
