package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// crowds are the numbers of concurrent callers.
// allCrowds are the numbers of callers that have bars.
var allCrowds = []int{1, 8, 32, 128}

// results holds the medians, by contender and number of callers.
type results struct {
	crowds                  []int
	first, replay           map[string]map[int]measure
	firstOrder, replayOrder []string
}

const (
	byHand  = "three statements"
	grouped = "idem"
	ungroup = "idem, not grouped"
	byBench = "pgbench"
)

// measure lets the contenders take turns, so that what disturbs the machine
// disturbs all of them, and each in every place of the order, because what one
// has written may still be on its way to the disk when the next begins.
func (b *bench) measure(crowds []int, rounds int, each time.Duration) (*results, error) {
	r := &results{
		crowds: crowds, first: map[string]map[int]measure{}, replay: map[string]map[int]measure{},
		firstOrder: []string{byHand, ungroup, byBench, grouped}, replayOrder: []string{ungroup, byBench, grouped},
	}
	contenders := []contender{b.threeStatements(), b.single(), b.grouped(), b.inC()}
	for _, callers := range crowds {
		firsts, replays := map[string][]measure{}, map[string][]measure{}
		for round := range rounds {
			for place := range contenders {
				c := contenders[(place+round)%len(contenders)]
				if err := b.turn(c.first, callers, each, c.name, firsts); err != nil {
					return nil, err
				}
			}
			for _, c := range contenders {
				if err := b.turn(c.replay, callers, each, c.name, replays); err != nil {
					return nil, err
				}
			}
		}
		settle(r.first, firsts, callers)
		settle(r.replay, replays, callers)
	}
	return r, nil
}

// turn makes one run, of whoever takes part.
func (b *bench) turn(run runner, callers int, each time.Duration, name string, runs map[string][]measure) error {
	if run == nil {
		return nil
	}
	m, err := run(callers, each)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	runs[name] = append(runs[name], m)
	return nil
}

func settle(into map[string]map[int]measure, runs map[string][]measure, callers int) {
	for name, m := range runs {
		if into[name] == nil {
			into[name] = map[int]measure{}
		}
		into[name][callers] = median(m)
	}
}

// once makes a run of calls, and measures its WAL.
func (b *bench) once(open opener, callers int, each time.Duration) (measure, error) {
	call, done, err := open(callers)
	if err != nil {
		return measure{}, err
	}
	defer done()
	if _, err := drive(callers, each/10, func(caller, i int) error { return call(caller, 1<<40+i) }); err != nil {
		return measure{}, err
	}
	before, err := b.wal()
	if err != nil {
		return measure{}, err
	}
	m, err := drive(callers, each, call)
	if err != nil {
		return measure{}, err
	}
	after, err := b.wal()
	m.wal = float64(after-before) / (m.rate * each.Seconds())
	return m, err
}

func (b *bench) wal() (n int64, err error) {
	err = b.admin.QueryRow(context.Background(), `SELECT (pg_current_wal_insert_lsn() - '0/0')::int8`).Scan(&n)
	return n, err
}

func (r *results) print(w io.Writer) {
	r.table(w, "first executions a second", r.first, r.firstOrder)
	r.table(w, "replays a second", r.replay, r.replayOrder)
	bars(w, r)
}

func (r *results) table(w io.Writer, title string, all map[string]map[int]measure, order []string) {
	fmt.Fprintf(w, "%-20s", title)
	for _, callers := range r.crowds {
		fmt.Fprintf(w, "%30s", fmt.Sprintf("%d callers", callers))
	}
	fmt.Fprintln(w)
	for _, name := range order {
		fmt.Fprintf(w, "  %-18s", name)
		for _, callers := range r.crowds {
			m := all[name][callers]
			cell := fmt.Sprintf("%.0f", m.rate)
			if m.p50 > 0 {
				cell += fmt.Sprintf(" p50 %s p99 %s", short(m.p50), short(m.p99))
			}
			fmt.Fprintf(w, "%30s", cell)
		}
		if name != byBench {
			fmt.Fprintf(w, "   %.0f B of WAL a call", all[name][r.crowds[0]].wal)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
}

func short(d time.Duration) string {
	if d < time.Millisecond {
		return fmt.Sprintf("%dµs", d.Microseconds())
	}
	return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
}

// A bar is a ratio to reach, or to stay below.
type bar struct {
	title string
	least bool
	want  [4]float64
	ratio func(r *results, callers int) float64
}

var allBars = []bar{
	{"first execution / three statements", true, [4]float64{1.1, 1.1, 2.2, 6}, func(r *results, n int) float64 {
		return r.first[grouped][n].rate / r.first[byHand][n].rate
	}},
	{"first execution / pgbench", true, [4]float64{0.75, 0.75, 1.4, 4}, func(r *results, n int) float64 {
		return r.first[grouped][n].rate / r.first[byBench][n].rate
	}},
	{"replay / pgbench's SELECT", true, [4]float64{0.5, 0.45, 1.5, 5}, func(r *results, n int) float64 {
		return r.replay[grouped][n].rate / r.replay[byBench][n].rate
	}},
	{"p99 / single statements", false, [4]float64{1.1, 1.1, 0.5, 0.15}, func(r *results, n int) float64 {
		return float64(r.first[grouped][n].p99) / float64(r.first[ungroup][n].p99)
	}},
}

func bars(w io.Writer, r *results) {
	fmt.Fprintln(w, "ratios, with their bars")
	for _, b := range allBars {
		fmt.Fprintf(w, "  %-36s", b.title)
		for i, callers := range allCrowds {
			if !slices.Contains(r.crowds, callers) {
				continue
			}
			ratio := b.ratio(r, callers)
			sign, verdict := "≥", "met"
			if !b.least {
				sign = "≤"
			}
			if b.least && ratio < b.want[i] || !b.least && ratio > b.want[i] {
				verdict = "MISSED"
			}
			fmt.Fprintf(w, "%24s", fmt.Sprintf("%.2f (%s %.2f %s)", ratio, sign, b.want[i], verdict))
		}
		fmt.Fprintln(w)
	}
}
