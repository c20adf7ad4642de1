package idemtest

import (
	"errors"
	"slices"
	"testing"
	"time"

	idem "github.com/idemgen/idem/runtime"
)

// A fault is one way to break the contract.
type fault string

const (
	faultless fault = "none"
	// watchesNothing is allowed: a backend may be unable to watch.
	watchesNothing fault = "watches nothing"

	replaceClaimsAbsent       fault = "replace claims absent"
	replaceIsBlind            fault = "replace is blind"
	replaceTakesOver          fault = "replace takes over"
	replaceInTwoSteps         fault = "replace in two steps"
	replaceBringsFingerprint  fault = "replace brings fingerprint"
	replaceIsTakeover         fault = "replace is takeover"
	takeoverIsForgotten       fault = "takeover is forgotten"
	ownClaimIsForgotten       fault = "own claim is forgotten"
	ownLapsedIsForgotten      fault = "own lapsed is forgotten"
	ownLeaseIsKept            fault = "own lease is kept"
	claimInTwoSteps           fault = "claim in two steps"
	reclaimInTwoSteps         fault = "reclaim in two steps"
	expiredIsTakenOver        fault = "expired is taken over"
	expiredIsReplayed         fault = "expired is replayed"
	unknownConflicts          fault = "unknown conflicts"
	pendingNeverConflicts     fault = "pending never conflicts"
	lapsedNeverConflicts      fault = "lapsed never conflicts"
	completedNeverConflicts   fault = "completed never conflicts"
	liveIsTakenOver           fault = "live is taken over"
	lapsedStaysPending        fault = "lapsed stays pending"
	lapsedIsAlwaysTakenOver   fault = "lapsed is always taken over"
	leaseLeftIsNeverNegative  fault = "lease left is never negative"
	leaseInSeconds            fault = "lease in seconds"
	retentionFromClaim        fault = "retention from claim"
	takeoverInTwoSteps        fault = "takeover in two steps"
	takeoverBringsFingerprint fault = "takeover brings fingerprint"
	takeoverKeepsFence        fault = "takeover keeps fence"
	attemptIsNotCounted       fault = "attempt is not counted"
	fencesArePerKey           fault = "fences are per key"
	fencesAreReused           fault = "fences are reused"
	completeIsUnfenced        fault = "complete is unfenced"
	completeIsForgotten       fault = "complete is forgotten"
	completeInTwoSteps        fault = "complete in two steps"
	completingTwiceOverwrites fault = "completing twice overwrites"
	lapsedCannotComplete      fault = "lapsed cannot complete"
	emptyIsNoResult           fault = "empty is no result"
	nulIsMangled              fault = "NUL is mangled"
	longResultsAreCut         fault = "long results are cut"
	ttlInWrongUnit            fault = "TTL in wrong unit"
	ttlFromClaim              fault = "TTL from claim"
	foreverOverflows          fault = "forever overflows"
	cancelledIsLost           fault = "cancelled is lost"
	cancelledIsHalfDone       fault = "cancelled is half done"
	answersShareBuffers       fault = "answers share buffers"
	releaseIsUnfenced         fault = "release is unfenced"
	releaseOnlyLapses         fault = "release only lapses"
	completedIsNotReleased    fault = "completed is not released"
	releaseIsAlwaysHeld       fault = "release is always held"
	releaseInTwoSteps         fault = "release in two steps"
	extendIsUnfenced          fault = "extend is unfenced"
	extendEndsNothing         fault = "extend ends nothing"
	extendAddsUp              fault = "extend adds up"
	extendAnswersOnlyHeld     fault = "extend answers only held"
	extendAnswersBackwards    fault = "extend answers backwards"
	extendPostponesExpiry     fault = "extend postpones expiry"
	extendRestartsAge         fault = "extend restarts age"
	lapsedCannotExtend        fault = "lapsed cannot extend"
	extendInTwoSteps          fault = "extend in two steps"
	keysEndAtNUL              fault = "keys end at NUL"
	keysFoldCase              fault = "keys fold case"
	keysAreText               fault = "keys are text"
	lookupFindsExpired        fault = "lookup finds expired"
	sweepDoesNothing          fault = "sweep does nothing"
	sweepIgnoresLimit         fault = "sweep ignores limit"
	sweepDeletesRetained      fault = "sweep deletes retained"
	sweepDeletesLive          fault = "sweep deletes live"
	sweepDeletesForever       fault = "sweep deletes forever"
	sweepWithoutAnotherLook   fault = "sweep without another look"
	completionWakesNobody     fault = "completion wakes nobody"
	waitersAreCountedEarly    fault = "waiters are counted early"
	releaseWakesNobody        fault = "release wakes nobody"
	claimFails                fault = "claim fails"
	completeFails             fault = "complete fails"
	releaseFails              fault = "release fails"
	extendFails               fault = "extend fails"
	lookupFails               fault = "lookup fails"
	sweepFails                fault = "sweep fails"
)

// caughtBy names the check that is meant to find each fault.
var caughtBy = map[fault]string{
	replaceClaimsAbsent:       "replace wins nothing else",
	replaceIsBlind:            "replace wins nothing else",
	replaceTakesOver:          "replace wins nothing else",
	replaceInTwoSteps:         "one replaces",
	replaceBringsFingerprint:  "replace wins the record seen",
	replaceIsTakeover:         "replace wins the record seen",
	takeoverIsForgotten:       "claim can be sent again",
	ownClaimIsForgotten:       "claim can be sent again",
	ownLapsedIsForgotten:      "own claim is won again",
	ownLeaseIsKept:            "own claim is won again",
	claimInTwoSteps:           "one wins an absent key",
	reclaimInTwoSteps:         "one wins an expired key",
	expiredIsTakenOver:        "results expire",
	expiredIsReplayed:         "results expire",
	unknownConflicts:          "unknown fingerprint never conflicts",
	pendingNeverConflicts:     "other fingerprint conflicts",
	lapsedNeverConflicts:      "other fingerprint conflicts",
	completedNeverConflicts:   "other fingerprint conflicts",
	liveIsTakenOver:           "live lease is pending",
	lapsedStaysPending:        "lapsed is taken over",
	lapsedIsAlwaysTakenOver:   "lapsed is interrupted",
	leaseLeftIsNeverNegative:  "lapsed is interrupted",
	leaseInSeconds:            "durations of every length",
	retentionFromClaim:        "pending records expire",
	takeoverInTwoSteps:        "one wins a lapsed key",
	takeoverBringsFingerprint: "takeover keeps the fingerprint",
	takeoverKeepsFence:        "fences only grow",
	attemptIsNotCounted:       "lapsed is taken over",
	fencesArePerKey:           "fences only grow",
	fencesAreReused:           "fences only grow",
	completeIsUnfenced:        "complete is fenced",
	completeIsForgotten:       "complete can be sent again",
	completeInTwoSteps:        "holder races with takeover",
	completingTwiceOverwrites: "complete can be sent again",
	lapsedCannotComplete:      "lapsed holder settles",
	emptyIsNoResult:           "results of any bytes",
	nulIsMangled:              "results of any bytes",
	ttlInWrongUnit:            "durations of every length",
	ttlFromClaim:              "lapsed holder settles",
	foreverOverflows:          "forever",
	cancelledIsLost:           "cancelled context",
	cancelledIsHalfDone:       "cancelled meanwhile",
	answersShareBuffers:       "answers stay",
	releaseIsUnfenced:         "release is fenced",
	releaseOnlyLapses:         "absent is won",
	completedIsNotReleased:    "release is fenced",
	extendIsUnfenced:          "extend is fenced",
	extendEndsNothing:         "extend ends leases",
	extendAddsUp:              "extend renews",
	extendAnswersOnlyHeld:     "extend answers in order",
	extendAnswersBackwards:    "extend answers in order",
	extendPostponesExpiry:     "extend renews",
	extendRestartsAge:         "extend renews",
	lapsedCannotExtend:        "lapsed holder settles",
	keysEndAtNUL:              "keys of any bytes",
	keysFoldCase:              "keys of any bytes",
	keysAreText:               "keys of any bytes",
	lookupFindsExpired:        "pending records expire",
	sweepDoesNothing:          "sweep deletes what expired",
	sweepIgnoresLimit:         "sweep keeps to its limit",
	sweepDeletesRetained:      "sweep deletes what expired",
	sweepDeletesLive:          "sweep deletes what expired",
	sweepDeletesForever:       "forever",
	sweepWithoutAnotherLook:   "sweep beside claims",
	completionWakesNobody:     "waiters wake",
	releaseWakesNobody:        "waiters wake",
	waitersAreCountedEarly:    "waiter races with completion",
	claimFails:                "absent is won",
	completeFails:             "completed is answered",
	releaseFails:              "release is fenced",
	extendFails:               "extend renews",
	lookupFails:               "absent is won",
	releaseIsAlwaysHeld:       "release can be sent again",
	releaseInTwoSteps:         "holder races with takeover",
	extendInTwoSteps:          "holder races with takeover",
	longResultsAreCut:         "results of any bytes",
	sweepFails:                "sweep beside claims",
}

func configFor(f fault) Config {
	return Config{
		Open:   func(testing.TB) idem.Backend { return newReference(f) },
		Bubble: true,
	}
}

func TestSuitePassesWhatKeepsTheContract(t *testing.T) {
	for _, f := range []fault{faultless, watchesNothing} {
		Run(t, configFor(f))
	}
}

func TestSuiteFailsEachFault(t *testing.T) {
	for fault, name := range caughtBy {
		t.Run(string(fault), func(t *testing.T) {
			i := slices.IndexFunc(checks, func(c check) bool { return c.name == name })
			if i < 0 {
				t.Fatalf("there is no check %q", name)
			}
			err := configFor(fault).check(t, checks[i])
			if err == nil {
				t.Errorf("%q passes", name)
			}
			t.Log(err)
		})
	}
}

func TestEachCheckFindsAFault(t *testing.T) {
	finds := make(map[string]bool)
	for _, name := range caughtBy {
		finds[name] = true
	}
	for _, check := range checks {
		if !finds[check.name] {
			t.Errorf("no fault shows what %q is for", check.name)
		}
	}
}

// A clock that the test can move is asked to, and may fail.
func TestAdvance(t *testing.T) {
	c := configFor(faultless)
	var moved time.Duration
	c.Advance = func(_ idem.Backend, d time.Duration) error {
		moved += d
		time.Sleep(d)
		return nil
	}
	if err := c.check(t, check{"lapsed is taken over", lapsedIsTakenOver}); err != nil {
		t.Error(err)
	}
	if moved < 3*time.Hour {
		t.Errorf("the clock moved %v, want three leases of an hour", moved)
	}
	c.Advance = func(idem.Backend, time.Duration) error { return errBroken }
	if err := c.check(t, check{"lapsed is taken over", lapsedIsTakenOver}); !errors.Is(err, errBroken) {
		t.Errorf("got %v, want the error of Advance", err)
	}
}
