// Command payments shows what a caller and an operator of an idempotent
// service see: retries, concurrent callers, misuse of a key, failures, and the
// crash of the process that held a key. It needs nothing but memory.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/idemgen/idem/examples/payments/payments"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A demo is a payment service with one processor behind it.
type demo struct {
	out       io.Writer
	backend   *memory.Backend
	store     *idem.Store
	processor *payments.Processor
	payments  payments.Payments
}

// run shows one scene after the other and writes what happens to out. What it
// writes is the same each time.
func run(ctx context.Context, out io.Writer) error {
	processor := &payments.Processor{}
	backend := memory.New()
	store := idem.New(backend, idem.WithObserver(idem.SlogObserver(operatorLog(out))))
	service := payments.NewIdempotentPayments(&payments.Service{Processor: processor}, store)

	d := &demo{out: out, backend: backend, store: store, processor: processor, payments: service}
	scenes := []func(context.Context) error{
		d.firstCall, d.retry, d.concurrentCallers, d.otherAmount, d.failure,
		d.crash, d.crashThatNobodyMayRepeat, d.forget,
	}
	for _, scene := range scenes {
		if err := scene(ctx); err != nil {
			return err
		}
	}
	return store.Close(ctx)
}

// operatorLog returns a logger for what an operator should look at. It leaves
// out what differs from run to run.
func operatorLog(out io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(logLines{out}, &slog.HandlerOptions{
		Level: slog.LevelWarn,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch a.Key {
			case slog.TimeKey, "operation", "age", "duration", "fence", "error":
				return slog.Attr{}
			}
			return a
		},
	}))
}

// logLines tells the lines of a log from the rest of the output.
type logLines struct{ out io.Writer }

func (w logLines) Write(line []byte) (int, error) {
	if _, err := fmt.Fprintf(w.out, "  | %s", line); err != nil {
		return 0, err
	}
	return len(line), nil
}

func (d *demo) title(text string) { fmt.Fprintf(d.out, "\n%s\n", text) }

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.out, "  "+format+"\n", args...) }

// charge makes a call and says what it came to.
func (d *demo) charge(ctx context.Context, order string, amount int64) error {
	ctx, outcome := idem.WithOutcome(ctx)
	receipt, err := d.payments.Charge(ctx, payments.ChargeRequest{
		CustomerID: "cus_9", OrderID: order, Amount: amount, Currency: "EUR",
	})
	if err == nil {
		d.say("%s: receipt %s for %v (%v)", order, receipt.ID, receipt.Total, outcome().Kind)
	}
	return err
}

func (d *demo) count() {
	requests, charges, _ := d.processor.Counts()
	d.say("the processor so far: requests %d, charges %d", requests, charges)
}

// die does what a process does that claims a key and is then killed: it is
// never heard of again, and its lease ends.
func (d *demo) die(ctx context.Context, key string, lease time.Duration) error {
	claim, err := d.backend.Claim(ctx, idem.ClaimRequest{
		Key: key, Owner: idem.Owner{1}, Lease: lease, Retention: time.Hour,
	})
	if err == nil && claim.Status != idem.ClaimWon {
		err = fmt.Errorf("%s is taken", key)
	}
	return err
}
