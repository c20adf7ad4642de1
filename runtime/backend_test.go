package idem_test

import (
	"testing"

	idem "github.com/idemgen/idem/runtime"
)

func TestStatesHaveNames(t *testing.T) {
	for state, want := range map[idem.State]string{
		0: "unknown", idem.Pending: "pending", idem.Completed: "completed", 3: "unknown",
	} {
		if got := state.String(); got != want {
			t.Errorf("State(%d).String() = %q, want %q", uint8(state), got, want)
		}
	}
}
