package postgres

import "strconv"

// A verdict is what the claim statement decided about a request.
type verdict int32

// Verdicts of the claim statement. Those up to verdictNote wrote to the row.
const (
	verdictInsert   verdict = iota + 1 // won: there was no row
	verdictReset                       // won: the row had expired
	verdictReplace                     // won: an operator replaces what he saw
	verdictOwn                         // won again: the claimant's own row
	verdictTakeover                    // won: the lease had lapsed
	verdictNote                        // pending, and the row now says that somebody waits
	verdictPending
	verdictCompleted
	verdictConflict
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
		"interrupted": int(verdictInterrupted), "gone": int(verdictGone), "unknown": int(verdictUnknown),
		"flagTakeover": flagTakeover, "flagWaiting": flagWaiting,
	}
	var pairs []string
	for name, value := range values {
		pairs = append(pairs, "{"+name+"}", strconv.Itoa(value))
	}
	return pairs
}
