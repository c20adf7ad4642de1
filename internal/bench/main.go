// Command bench prints the speed of the in-process paths as ratios to
// singleflight, all measured in one run, beside the bars that they are to
// reach. Absolute times differ from machine to machine; ratios less so.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"testing"
	"text/tabwriter"
	"time"

	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

func main() {
	rounds := flag.Int("rounds", 5, "how often each path is measured; the median counts")
	keys := flag.Int("keys", 1_000_000, "how many keys the memory backend keeps in its own measurement")
	testing.Init()
	flag.Parse()
	if err := run(os.Stdout, *rounds, *keys); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// measure is one measured path.
type measure struct {
	time   time.Duration // median of the rounds, for one call
	allocs int64
}

// run measures all paths in alternation, so that a noisy moment of the machine
// touches all of them, and prints the table.
func run(w io.Writer, rounds, keys int) error {
	paths := []struct {
		name string
		f    func(*testing.B)
	}{
		{"singleflight", singleflightDo},
		{"encode", encode},
		{"copy", copyOne},
		{"key", deriveKey},
		{"first", firstExecution},
		{"replay", replay},
		{"joined", joined},
		{"joinedBaseline", joinedSingleflight},
	}
	results := map[string]measure{}
	samples := map[string][]time.Duration{}
	for range rounds {
		for _, p := range paths {
			r := testing.Benchmark(p.f)
			if r.N == 0 {
				return fmt.Errorf("%s failed", p.name)
			}
			samples[p.name] = append(samples[p.name], time.Duration(r.T.Nanoseconds()/int64(r.N)))
			results[p.name] = measure{allocs: r.AllocsPerOp()}
		}
	}
	for name, m := range results {
		m.time = median(samples[name])
		results[name] = m
	}

	base := results["singleflight"].time
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "path\ttime\tallocations\tratio\tbar\t")
	line := func(name string, d time.Duration, allocs int64, ratio, bar float64, allocBar int64) {
		verdict := "met"
		if ratio > bar || allocBar >= 0 && allocs > allocBar {
			verdict = "MISSED"
		}
		limit := fmt.Sprintf("≤ %.1f×", bar)
		if allocBar >= 0 {
			limit += fmt.Sprintf(", ≤ %d allocations", allocBar)
		}
		fmt.Fprintf(t, "%s\t%v\t%d\t%.2f×\t%s\t%s\n", name, d, allocs, ratio, limit, verdict)
	}
	info := func(name string, m measure) {
		fmt.Fprintf(t, "%s\t%v\t%d\t%.2f×\t\t\n", name, m.time, m.allocs, over(m.time, base))
	}
	info("singleflight.Do, uncontended", results["singleflight"])
	info("encoding the result (encoding/json)", results["encode"])
	info("typed copy of the result", results["copy"])
	key := results["key"]
	line("key of three parts", key.time, key.allocs, over(key.time, base), 1, 1)
	first := results["first"]
	beyond := first.time - results["encode"].time
	line("first execution, beyond encoding", beyond, first.allocs-results["encode"].allocs, over(beyond, base), 15, -1)
	replayed := results["replay"]
	line("replay by typed copy", replayed.time, replayed.allocs, over(replayed.time, base), 8, results["copy"].allocs+3)
	join, baseline := results["joined"], results["joinedBaseline"]
	line("1,000 callers joined (against singleflight and copies)", join.time, join.allocs, over(join.time, baseline.time), 1.3, -1)
	if err := t.Flush(); err != nil {
		return err
	}
	return footprint(w, keys)
}

func over(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// percentile returns the value below which the share p of the sorted d lies.
func percentile[T cmp.Ordered](d []T, p float64) T {
	return d[min(int(p*float64(len(d))), len(d)-1)]
}

// receipt is a result of common size: twelve fields, a slice and a time,
// about 450 bytes of JSON.
type receipt struct {
	ID, Customer, Order, Currency, Status, Reference, Note string
	Amount, Fee, Tax                                       int64
	At                                                     time.Time
	Lines                                                  []line
}

type line struct {
	SKU      string
	Quantity int
	Price    int64
}

func newReceipt() receipt {
	return receipt{
		ID: "rcpt_0123456789", Customer: "cus_9", Order: "order-123", Currency: "EUR", Status: "captured",
		Reference: "ref-9876543210", Note: "thank you for your order",
		Amount: 12_345, Fee: 35, Tax: 2_345,
		At: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
		Lines: []line{
			{"sku-1", 1, 1_000}, {"sku-2", 2, 2_000}, {"sku-3", 3, 3_000}, {"sku-4", 4, 4_000},
		},
	}
}

func copyReceipt(r receipt) receipt {
	if r.Lines != nil {
		r.Lines = append(make([]line, 0, len(r.Lines)), r.Lines...)
	}
	return r
}

func encode(b *testing.B) {
	b.ReportAllocs()
	r := newReceipt()
	for b.Loop() {
		if _, err := json.Marshal(r); err != nil {
			b.Fatal(err)
		}
	}
}

func copyOne(b *testing.B) {
	b.ReportAllocs()
	r := newReceipt()
	for b.Loop() {
		runtime.KeepAlive(copyReceipt(r))
	}
}

// payments is a method as generated code wraps it.
type payments struct{ charge *idem.Method[receipt] }

func newPayments(store *idem.Store) payments {
	return payments{idem.NewMethod(store, idem.MethodOptions[receipt]{
		Operation: "payments.Charge",
		Parts:     []string{"customer", "number", "order"},
		Arguments: []string{"customer", "number", "order"},
		Copy:      copyReceipt,
	})}
}

func (p payments) Charge(ctx context.Context, customer string, number int64, order string, fn func(context.Context) (receipt, error)) (receipt, error) {
	var key idem.KeyBuilder
	key.String(customer)
	key.Int(number)
	key.String(order)
	var fp idem.FingerprintBuilder
	fp.Arg(0)
	fp.String(customer)
	fp.Arg(1)
	fp.Int(number)
	fp.Arg(2)
	fp.String(order)
	return p.charge.Run(ctx, &key, &fp, fn)
}

func newStore(cache int) *idem.Store {
	return idem.New(memory.New(), idem.WithSweep(0, 0), idem.WithCache(cache, time.Hour))
}

func execute(context.Context) (receipt, error) { return newReceipt(), nil }

func firstExecution(b *testing.B) {
	b.ReportAllocs()
	p := newPayments(newStore(4096))
	var n int64
	for b.Loop() {
		n++
		if _, err := p.Charge(context.Background(), "cus_9", n, "order-123", execute); err != nil {
			b.Fatal(err)
		}
	}
}

func replay(b *testing.B) {
	b.ReportAllocs()
	p := newPayments(newStore(4096))
	for b.Loop() {
		r, err := p.Charge(context.Background(), "cus_9", 1, "order-123", execute)
		if err != nil {
			b.Fatal(err)
		}
		runtime.KeepAlive(r)
	}
}
