package idem_test

import (
	"context"
	"testing"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

// Wrappers declare the builders as variables and pass their addresses: that
// costs no more than builders which exist already, because nothing that Run
// calls keeps them.
func TestBuildersStayOnTheStack(t *testing.T) {
	store := idem.New(memory.New())
	defer closeStore(t, store)
	m := idem.NewMethod(store, idem.MethodOptions[int]{
		Operation: "charge", Parts: []string{"id", "n"}, Arguments: []string{"amount"},
		Copy: func(n int) int { return n },
	})
	fill := func(key *idem.KeyBuilder, fp *idem.FingerprintBuilder) {
		key.String("cus_9")
		key.Int(7)
		fp.Arg(0)
		fp.Int(12)
	}
	run := func(key *idem.KeyBuilder, fp *idem.FingerprintBuilder) {
		if _, err := m.Run(t.Context(), key, fp, func(context.Context) (int, error) { return 1, nil }); err != nil {
			t.Fatal(err)
		}
	}
	declared := testing.AllocsPerRun(200, func() {
		var key idem.KeyBuilder
		var fp idem.FingerprintBuilder
		fill(&key, &fp)
		run(&key, &fp)
	})
	key, fp := new(idem.KeyBuilder), new(idem.FingerprintBuilder)
	kept := testing.AllocsPerRun(200, func() {
		*key, *fp = idem.KeyBuilder{}, idem.FingerprintBuilder{}
		fill(key, fp)
		run(key, fp)
	})
	if declared > kept {
		t.Errorf("%v allocations with builders of the call's own, %v without", declared, kept)
	}
}
