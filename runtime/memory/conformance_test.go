package memory_test

import (
	"testing"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/idemtest"
	"github.com/idemgen/idem/runtime/memory"
)

func TestConformance(t *testing.T) {
	idemtest.Run(t, idemtest.Config{
		Open:   func(testing.TB) idem.Backend { return memory.New() },
		Bubble: true,
	})
}

// In real time nothing can be told of when time passes, but locks contend.
func TestConformanceInRealTime(t *testing.T) {
	idemtest.Run(t, idemtest.Config{
		Open: func(testing.TB) idem.Backend { return memory.New(memory.WithCapacity(1000)) },
	})
}
