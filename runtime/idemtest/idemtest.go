// Package idemtest checks that an implementation of idem.Backend keeps the
// contract that stores rely on.
//
//	func TestBackend(t *testing.T) {
//		idemtest.Run(t, idemtest.Config{
//			Open: func(t testing.TB) idem.Backend { return open(t) },
//		})
//	}
//
// Each check is a subtest, whose failure says what was done, what came back
// and what the contract wants.
package idemtest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// A Config says how to test one kind of backend.
type Config struct {
	// Open returns a backend that has no records and that nobody else uses.
	// It is called once for each check, and may register a cleanup.
	Open func(t testing.TB) idem.Backend

	// Advance moves the clock of b on by d, or all times in its records back
	// by d. Without it, and without Bubble, checks sleep for some milliseconds,
	// a few for a second, wherever time must pass, and cannot look closely at
	// when it passed.
	Advance func(b idem.Backend, d time.Duration) error

	// Bubble runs each check in a testing/synctest bubble, where sleeping
	// takes no time. It suits a backend that has no clock other than package
	// time and waits for nothing outside the process.
	Bubble bool
}

// A check is one part of the contract. It makes its findings known to the
// trial.
type check struct {
	name string
	run  func(*trial)
}

// Run checks the backends that c.Open returns.
func Run(t *testing.T, c Config) {
	for _, check := range checks {
		t.Run(check.name, func(t *testing.T) {
			if err := c.check(t, check); err != nil {
				t.Error(err)
			}
		})
	}
}

// check returns what is wrong with a newly opened backend.
func (c Config) check(t *testing.T, check check) (err error) {
	if !c.Bubble {
		return c.attempt(t.Context(), check, c.Open(t))
	}
	synctest.Test(t, func(t *testing.T) {
		err = c.attempt(t.Context(), check, c.Open(t))
	})
	return err
}

func (c Config) attempt(ctx context.Context, check check, b idem.Backend) error {
	t := &trial{
		ctx:     ctx,
		backend: b,
		advance: sleep,
		short:   time.Hour,
		ample:   time.Hour,
		long:    1000 * time.Hour,
		slack:   time.Minute,
		exact:   true,
	}
	switch {
	case c.Bubble:
		t.slack = time.Millisecond
	case c.Advance == nil:
		t.short = 5 * time.Millisecond
		t.ample = time.Second
		t.exact = false
	}
	if c.Advance != nil {
		t.advance = func(d time.Duration) error { return c.Advance(b, d) }
	}
	check.run(t)
	return t.err
}

func sleep(d time.Duration) error {
	time.Sleep(d)
	return nil
}

// checks is the whole suite, from the simple to the involved.
var checks = []check{
	{"absent is won", absentIsWon},
	{"own claim is won again", ownClaimIsWonAgain},
	{"other fingerprint conflicts", otherFingerprintConflicts},
	{"unknown fingerprint never conflicts", unknownFingerprintNeverConflicts},
	{"completed is answered", completedIsAnswered},
	{"live lease is pending", liveLeaseIsPending},
	{"lapsed is taken over", lapsedIsTakenOver},
	{"takeover keeps the fingerprint", takeoverKeepsFingerprint},
	{"lapsed is interrupted", lapsedIsInterrupted},
	{"replace wins the record seen", replaceWinsRecordSeen},
	{"replace wins nothing else", replaceWinsNothingElse},

	{"complete is fenced", completeIsFenced},
	{"release is fenced", releaseIsFenced},
	{"extend is fenced", extendIsFenced},
	{"fences only grow", fencesOnlyGrow},
	{"lapsed holder settles", lapsedHolderSettles},
	{"extend renews", extendRenews},
	{"extend ends leases", extendEndsLeases},
	{"extend answers in order", extendAnswersInOrder},

	{"claim can be sent again", claimCanBeSentAgain},
	{"complete can be sent again", completeCanBeSentAgain},
	{"release can be sent again", releaseCanBeSentAgain},
	{"cancelled context", cancelledContext},
	{"cancelled meanwhile", cancelledMeanwhile},
	{"answers stay", answersStay},

	{"results expire", resultsExpire},
	{"pending records expire", pendingRecordsExpire},
	{"durations of every length", durationsOfEveryLength},
	{"forever", forever},

	{"keys of any bytes", keysOfAnyBytes},
	{"results of any bytes", resultsOfAnyBytes},

	{"sweep deletes what expired", sweepDeletesWhatExpired},
	{"sweep keeps to its limit", sweepKeepsToItsLimit},
	{"sweep beside claims", sweepBesideClaims},

	{"one wins an absent key", oneWinsAbsent},
	{"one wins a lapsed key", oneWinsLapsed},
	{"one wins an expired key", oneWinsExpired},
	{"one replaces", oneReplaces},
	{"holder races with takeover", holderRacesWithTakeover},

	{"waiters wake", waitersWake},
	{"waiter races with completion", waiterRacesWithCompletion},
}
