package idem_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

func TestErrorTexts(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&idem.CallError{Operation: "charge", Argument: "req.OrderID", Err: idem.ErrEmptyKey},
			"idem: charge: a key part is empty (req.OrderID)"},
		{&idem.CallError{Operation: "charge", Key: "charge/r-1", Argument: "amount", Attempt: 1, Age: 90 * time.Minute, Err: idem.ErrKeyReused},
			"idem: charge/r-1: the key was used before with other arguments (amount, attempt 1, claimed 1h30m0s ago)"},
		{&idem.CallError{Key: "charge/r-1", Attempt: 2, Age: 1500 * time.Microsecond, RetryAfter: 500 * time.Microsecond, Err: idem.ErrInProgress},
			"idem: charge/r-1: another execution of this key is in progress (attempt 2, claimed 2ms ago, retry after 500µs)"},
		{&idem.BackendError{Key: "charge/r-1", Action: "claim", Err: errDown},
			"idem: charge/r-1: claim failed in the backend: the database is down"},
		{&idem.BackendError{Action: "sweep", Err: errDown},
			"idem: sweep failed in the backend: the database is down"},
		{&idem.DecodeError{Key: "charge/r-1", Codec: "json", Err: errors.New("unexpected end")},
			"idem: charge/r-1: the recorded result (json) does not decode: unexpected end"},
		{&idem.PanicError{Value: "boom", Stack: []byte("stack")},
			"idem: the execution that this call had joined panicked: boom\n\nstack"},
		{&idem.PanicError{},
			"idem: the execution that this call had joined ended by runtime.Goexit"},
		{idem.Uncertain(errDown), "uncertain outcome: the database is down"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestAdvise(t *testing.T) {
	for _, c := range []struct {
		err  error
		want idem.Advice
		text string
	}{
		{nil, 0, "no advice"},
		{errors.New("declined"), idem.RetrySameKey, "retry with the same key"},
		{&idem.BackendError{Err: errDown}, idem.RetrySameKey, "retry with the same key"},
		{&idem.PanicError{Value: "boom"}, idem.RetrySameKey, "retry with the same key"},
		{idem.ErrInProgress, idem.RetrySameKey, "retry with the same key"},
		{idem.ErrKeyReused, idem.UseAnotherKey, "use another key"},
		{idem.ErrInterrupted, idem.DoNotRetry, "do not retry"},
		{idem.ErrEmptyKey, idem.DoNotRetry, "do not retry"},
		{idem.ErrReentrant, idem.DoNotRetry, "do not retry"},
		{idem.ErrNoScope, idem.DoNotRetry, "do not retry"},
		{idem.ErrClosed, idem.DoNotRetry, "do not retry"},
		{idem.ErrResultUnavailable, idem.DoNotRetry, "do not retry"},
		{&idem.DecodeError{Err: errDown}, idem.DoNotRetry, "do not retry"},
	} {
		wrapped := c.err
		if wrapped != nil {
			wrapped = fmt.Errorf("charging: %w", &idem.CallError{Err: c.err})
		}
		if got := idem.Advise(wrapped); got != c.want || got.String() != c.text {
			t.Errorf("%v: %q, want %q", c.err, got, c.text)
		}
	}
}

func TestUncertainOfNothingIsNothing(t *testing.T) {
	if idem.Uncertain(nil) != nil || idem.IsUncertain(errDown) || idem.IsUncertain(nil) {
		t.Error("certain errors look uncertain")
	}
	if err := idem.Uncertain(errDown); !errors.Is(err, errDown) {
		t.Errorf("%v hides its cause", err)
	}
}

func TestPanicErrorUnwrapsErrorsOnly(t *testing.T) {
	if !errors.Is(&idem.PanicError{Value: errDown}, errDown) || errors.Unwrap(&idem.PanicError{Value: 1}) != nil {
		t.Error("Unwrap is wrong")
	}
}
