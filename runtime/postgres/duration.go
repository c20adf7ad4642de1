package postgres

import (
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// never stands for idem.Forever in a statement's arguments, where other
// durations are microseconds of zero and more.
const never = -1

// micros returns d in microseconds, rounded up so that a short duration does
// not become none. A negative duration is zero.
func micros(d time.Duration) int64 {
	us := int64(d / time.Microsecond)
	if d%time.Microsecond > 0 {
		us++
	}
	return max(us, 0)
}

// keptMicros is micros for durations that may be idem.Forever.
func keptMicros(d time.Duration) int64 {
	if d == idem.Forever {
		return never
	}
	return micros(d)
}
