package main

import (
	"testing"

	idem "github.com/idemgen/idem/runtime"
)

func deriveKey(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		var key idem.KeyBuilder
		key.String("cus_9")
		key.Int(1234567)
		key.String("order-123")
		if _, err := key.Key("", "payments.Charge"); err != nil {
			b.Fatal(err)
		}
	}
}
