package main

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/singleflight"
)

const callers = 1000

func singleflightDo(b *testing.B) {
	b.ReportAllocs()
	var group singleflight.Group
	for b.Loop() {
		if _, err, _ := group.Do("payments.Charge/cus_9/1/order-123", func() (any, error) { return nil, nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// together starts a thousand callers and lets the execution end when all of
// them have come. The few that the scheduler holds back until after that run
// once more, or replay.
func together(call func(finish <-chan struct{})) {
	finish := make(chan struct{})
	var wg sync.WaitGroup
	var come atomic.Int64
	for range callers {
		wg.Go(func() {
			come.Add(1)
			call(finish)
		})
	}
	for come.Load() < callers {
		runtime.Gosched()
	}
	close(finish)
	wg.Wait()
}

func joined(b *testing.B) {
	b.ReportAllocs()
	p := newPayments(newStore(0))
	var n int64
	for b.Loop() {
		n++
		together(func(finish <-chan struct{}) {
			_, err := p.Charge(context.Background(), "cus_9", n, "order-123", func(context.Context) (receipt, error) {
				<-finish
				return newReceipt(), nil
			})
			if err != nil {
				b.Error(err)
			}
		})
	}
}

// joinedSingleflight is what a caller of singleflight has to do for the same
// result: derive the key, and make a copy of its own.
func joinedSingleflight(b *testing.B) {
	b.ReportAllocs()
	var group singleflight.Group
	for b.Loop() {
		together(func(finish <-chan struct{}) {
			v, err, _ := group.Do("payments.Charge/cus_9/1/order-123", func() (any, error) {
				<-finish
				return newReceipt(), nil
			})
			if err != nil {
				b.Error(err)
			}
			r := copyReceipt(v.(receipt))
			runtime.KeepAlive(r)
		})
	}
}
