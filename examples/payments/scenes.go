package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/idemgen/idem/examples/payments/payments"
	idem "github.com/idemgen/idem/runtime"
)

func (d *demo) firstCall(ctx context.Context) error {
	d.title("A first call runs.")
	err := d.charge(ctx, "order-1", 4990)
	d.count()
	return err
}

func (d *demo) retry(ctx context.Context) error {
	d.title("Its retry gets the same receipt.")
	err := d.charge(ctx, "order-1", 4990)
	d.count()
	return err
}

func (d *demo) concurrentCallers(ctx context.Context) error {
	const callers = 100
	d.title("Of 100 concurrent callers one runs, and all get its receipt.")
	var (
		all      sync.WaitGroup
		receipts [callers]payments.Receipt
		outcomes [callers]idem.Outcome
		errs     [callers]error
	)
	for i := range callers {
		all.Go(func() {
			ctx, outcome := idem.WithOutcome(ctx)
			receipts[i], errs[i] = d.payments.Charge(ctx, payments.ChargeRequest{
				CustomerID: "cus_9", OrderID: "order-2", Amount: 1250, Currency: "EUR",
			})
			outcomes[i] = outcome()
		})
	}
	all.Wait()
	equal, repeated := 0, 0
	for i := range callers {
		if reflect.DeepEqual(receipts[i], receipts[0]) {
			equal++
		}
		if outcomes[i].Repeated() {
			repeated++
		}
	}
	d.say("order-2: %d equal receipts, %d of them joined or replayed", equal, repeated)
	d.count()
	return errors.Join(errs[:]...)
}

func (d *demo) otherAmount(ctx context.Context) error {
	d.title("The same key with another amount is refused: the caller made a mistake.")
	err := d.charge(ctx, "order-1", 9990)
	return d.refused(err, idem.ErrKeyReused)
}

func (d *demo) failure(ctx context.Context) error {
	d.title("A failure is not recorded: the retry runs again.")
	d.processor.Fail(1)
	err := d.charge(ctx, "order-3", 700)
	d.say("order-3: %v", err)
	d.say("advice to the caller: %v", idem.Advise(err))
	if !errors.Is(err, payments.ErrUnavailable) {
		return fmt.Errorf("want %w, got %w", payments.ErrUnavailable, err)
	}
	err = d.charge(ctx, "order-3", 700)
	d.count()
	return err
}

func (d *demo) crash(ctx context.Context) error {
	d.title("A process charges and is killed before it can say so. Once its lease ended, the next caller takes over.")
	key := "payments.Charge/cus_9/order-4"
	if err := d.die(ctx, key, 200*time.Millisecond); err != nil {
		return err
	}
	child := idem.Execution{Key: key}.Child("card")
	if _, err := d.processor.Charge(child, "cus_9", payments.Money{Amount: 300, Currency: "EUR"}); err != nil {
		return err
	}
	err := d.charge(ctx, "order-4", 300)
	d.say("the processor was asked again, recognised the execution's child key, and charged once")
	d.count()
	return err
}

func (d *demo) crashThatNobodyMayRepeat(ctx context.Context) error {
	d.title("After a crash in a method that says `recover refuse`, a person decides.")
	key := "payments.Refund/ch_1"
	if err := d.die(ctx, key, time.Millisecond); err != nil {
		return err
	}
	if err := d.refused(d.payments.Refund(ctx, "ch_1"), idem.ErrInterrupted); err != nil {
		return err
	}
	record, _, err := d.store.Lookup(ctx, key)
	if err != nil {
		return err
	}
	d.say("the operator looks it up: %v, attempt %d, lease lapsed: %t", record.State, record.Attempt, record.LeaseLeft < 0)
	d.say("the processor's books say that the money went back, so the operator records that")
	if err := d.store.Resolve(ctx, key, idem.Resolution{Result: struct{}{}}); err != nil {
		return err
	}
	ctx, outcome := idem.WithOutcome(ctx)
	if err := d.payments.Refund(ctx, "ch_1"); err != nil {
		return err
	}
	_, _, refunds := d.processor.Counts()
	d.say("refund of ch_1: done (%v); refunds that this process asked for: %d", outcome().Kind, refunds)
	return nil
}

func (d *demo) forget(ctx context.Context) error {
	d.title("An operator can free a key: the next call runs again.")
	if err := d.store.Forget(ctx, "payments.Charge/cus_9/order-1"); err != nil {
		return err
	}
	err := d.charge(ctx, "order-1", 4990)
	d.count()
	return err
}

// refused says what a caller sees who must not get a result. It returns an
// error if err is not the one wanted.
func (d *demo) refused(err, want error) error {
	call, ok := errors.AsType[*idem.CallError](err)
	if !ok || !errors.Is(err, want) {
		return fmt.Errorf("want %w, got %w", want, err)
	}
	d.say("%s: %v", call.Key, call.Err)
	d.say("advice to the caller: %v", idem.Advise(err))
	return nil
}
