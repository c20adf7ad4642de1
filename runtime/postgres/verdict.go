package postgres

import "strconv"

// A verdict is what the claim statement decided about a request.
type verdict int32

// Verdicts of the claim statement. Those up to verdictNote write to the row,
// and of them the last two leave the claim as it is. The statement depends on
// this order.
const (
	verdictInsert   verdict = iota + 1 // won: there was no row
	verdictReset                       // won: the row had expired
	verdictReplace                     // won: an operator replaces what he saw
	verdictTakeover                    // won: the lease had lapsed
	verdictOwn                         // won again: the claimant's own row
	verdictNote                        // pending, and the row now says that somebody waits
	verdictPending
	verdictCompleted
	verdictConflict     // with a pending row
	verdictConflictDone // with a completed one
	verdictInterrupted
	verdictGone    // a row to replace does not exist
	verdictUnknown // the row's state is none that this program knows
)

// Flags of a request.
const (
	flagTakeover = 1 << iota
	flagWaiting
)

// verdictNames returns what stands for the verdicts and flags in the text of
// the claim statement, as arguments of strings.NewReplacer.
func verdictNames() []string {
	values := map[string]int{
		"insert": int(verdictInsert), "reset": int(verdictReset), "replace": int(verdictReplace),
		"own": int(verdictOwn), "takeover": int(verdictTakeover), "note": int(verdictNote),
		"pending": int(verdictPending), "completed": int(verdictCompleted), "conflict": int(verdictConflict),
		"conflictDone": int(verdictConflictDone),
		"interrupted":  int(verdictInterrupted), "gone": int(verdictGone), "unknown": int(verdictUnknown),
		"flagTakeover": flagTakeover, "flagWaiting": flagWaiting,
	}
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, "{"+name+"}", strconv.Itoa(value))
	}
	return pairs
}
