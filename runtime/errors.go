package idem

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Errors that a call can return, to be tested with errors.Is. Those about one
// key come wrapped in a *CallError that says which. Advise tells what the
// caller may do.
var (
	// ErrInProgress: another process executes the key, and the method does
	// not wait (pending reject) or waited as long as it may. Try again with
	// the same key after CallError.RetryAfter.
	ErrInProgress = errors.New("another execution of this key is in progress")

	// ErrKeyReused: the key was used before for a request with other
	// arguments. CallError.Argument names the one that differs. Use another
	// key, or send the first request again.
	ErrKeyReused = errors.New("the key was used before with other arguments")

	// ErrInterrupted: an earlier execution ended without a known outcome, and
	// the method refuses to run again. Nobody but an operator can settle it,
	// with Store.Resolve or Store.Forget.
	ErrInterrupted = errors.New("an earlier execution was interrupted and its outcome is unknown")

	// ErrEmptyKey: a key part is empty, so the key would be shared by calls
	// that have nothing in common. Nothing ran.
	ErrEmptyKey = errors.New("a key part is empty")

	// ErrReentrant: the call was made inside an execution of its own key,
	// where it could only wait for itself. Nothing ran.
	ErrReentrant = errors.New("the call was made inside an execution of its own key")

	// ErrClaimLost is the cause (context.Cause) with which an executor's
	// context is cancelled when its claim could not be renewed in time, or was
	// taken over.
	ErrClaimLost = errors.New("the claim was lost")

	// ErrSerialization: the database gave up the transaction of a method in
	// transactional mode because of a concurrent one (a serialization failure
	// or a deadlock). Nothing of it is left. Make the call again, or, in a
	// transaction of your own, roll that back and make all of it again.
	ErrSerialization = errors.New("the database gave up the transaction because of a concurrent one")

	// ErrResultUnavailable: the key was executed, but its result could not be
	// recorded. Do not run it again.
	ErrResultUnavailable = errors.New("the key was executed but its result was not recorded")

	// ErrClosed: the store is closed. Nothing ran.
	ErrClosed = errors.New("the store is closed")

	// ErrNoScope: the store requires a scope, and the context has none.
	ErrNoScope = errors.New("the context has no scope")

	// ErrNotFound: Forget or Resolve found no record of the key.
	ErrNotFound = errors.New("no record of this key")

	// ErrChanged: the record changed between the operator's look at it and
	// the attempt to settle it. Look again.
	ErrChanged = errors.New("the record changed meanwhile")
)

// A CallError says which call failed and what is known of its key. It never
// holds an argument's value, other than as part of the key.
type CallError struct {
	Operation  string
	Key        string        // the whole key, with its scope and operation
	Attempt    int           // of the record that stood in the way, 0 if none did
	Age        time.Duration // since that record was claimed
	LeaseLeft  time.Duration // until its holder must give a sign of life
	RetryAfter time.Duration // when a further try makes sense, 0 if unknown or never
	Argument   string        // the argument or key part concerned, if any
	Err        error
}

func (e *CallError) Error() string {
	var b strings.Builder
	b.WriteString("idem: ")
	if e.Key != "" {
		b.WriteString(e.Key)
	} else {
		b.WriteString(e.Operation)
	}
	b.WriteString(": ")
	b.WriteString(e.Err.Error())
	var details []string
	if e.Argument != "" {
		details = append(details, e.Argument)
	}
	if e.Attempt > 0 {
		details = append(details, "attempt "+strconv.Itoa(e.Attempt), "claimed "+roundDuration(e.Age)+" ago")
	}
	if e.RetryAfter > 0 {
		details = append(details, "retry after "+roundDuration(e.RetryAfter))
	}
	if len(details) > 0 {
		b.WriteString(" (" + strings.Join(details, ", ") + ")")
	}
	return b.String()
}

func (e *CallError) Unwrap() error { return e.Err }

// roundDuration formats d to the millisecond, which is what a reader can use.
func roundDuration(d time.Duration) string {
	if d < time.Millisecond {
		return d.String()
	}
	return d.Round(time.Millisecond).String()
}

// A BackendError says that the backend failed before the method ran or, in
// transactional mode, that nothing of what it did was kept. The same call may
// be made again. If the action is "commit" and the error IsUncertain, even
// asking the database did not tell what became of the transaction: the next
// call finds out.
type BackendError struct {
	Operation string
	Key       string
	Action    string // "claim", "complete", "commit", "lookup", …
	Err       error
}

func (e *BackendError) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("idem: %s failed in the backend: %v", e.Action, e.Err)
	}
	return fmt.Sprintf("idem: %s: %s failed in the backend: %v", e.Key, e.Action, e.Err)
}

func (e *BackendError) Unwrap() error { return e.Err }

// A DecodeError says that a recorded result could not be brought back. The
// method was executed and is not executed again.
type DecodeError struct {
	Operation string
	Key       string
	Codec     string // that recorded it
	Err       error
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("idem: %s: the recorded result (%s) does not decode: %v", e.Key, e.Codec, e.Err)
}

func (e *DecodeError) Unwrap() error { return e.Err }

// A PanicError reaches the followers of an execution that panicked. The
// leader itself panics with Value, unchanged.
type PanicError struct {
	Value any    // as given to panic, or nil for runtime.Goexit
	Stack []byte // of the leader
}

func (e *PanicError) Error() string {
	if e.Value == nil {
		return "idem: the execution that this call had joined ended by runtime.Goexit"
	}
	return fmt.Sprintf("idem: the execution that this call had joined panicked: %v\n\n%s", e.Value, e.Stack)
}

// Unwrap returns the panic's value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Uncertain marks an error after which the executor cannot tell whether its
// effect happened, such as a timeout of the system downstream. The claim is
// then neither released nor completed: its lease ends at once, and the
// method's recover policy decides as after a crash. Callers get the error.
func Uncertain(err error) error {
	if err == nil {
		return nil
	}
	return &uncertainError{err}
}

// IsUncertain reports whether err was marked with Uncertain.
func IsUncertain(err error) bool {
	var u *uncertainError
	return errors.As(err, &u)
}

type uncertainError struct{ err error }

func (e *uncertainError) Error() string { return "uncertain outcome: " + e.err.Error() }
func (e *uncertainError) Unwrap() error { return e.err }

// Advice is what a caller may do about an error.
type Advice uint8

const (
	// RetrySameKey: the same call may be made again, at once or after
	// CallError.RetryAfter; it will not run twice.
	RetrySameKey Advice = iota + 1
	// UseAnotherKey: this key stands for another request.
	UseAnotherKey
	// DoNotRetry: a further call cannot succeed, or the method already ran.
	DoNotRetry
)

// String returns the advice in words.
func (a Advice) String() string {
	switch a {
	case RetrySameKey:
		return "retry with the same key"
	case UseAnotherKey:
		return "use another key"
	case DoNotRetry:
		return "do not retry"
	default:
		return "no advice"
	}
}

// Advise says what the caller of a wrapped method may do about err. An error
// of the method itself was not recorded, so the same call may be made again.
func Advise(err error) Advice {
	var decode *DecodeError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrKeyReused):
		return UseAnotherKey
	case errors.As(err, &decode),
		errors.Is(err, ErrResultUnavailable),
		errors.Is(err, ErrInterrupted),
		errors.Is(err, ErrEmptyKey),
		errors.Is(err, ErrReentrant),
		errors.Is(err, ErrNoScope),
		errors.Is(err, ErrClosed):
		return DoNotRetry
	default:
		return RetrySameKey
	}
}
