package main

import (
	"context"
	"fmt"
	"io"
	"time"
)

// crowds are the numbers of concurrent callers.
var crowds = []int{1, 8, 32, 128}

// results holds the medians, by contender and number of callers.
type results struct {
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
// disturbs all of them.
func (b *bench) measure(rounds int, each time.Duration) (*results, error) {
	contenders := []contender{b.threeStatements(), b.single(), b.grouped()}
	r := &results{first: map[string]map[int]measure{}, replay: map[string]map[int]measure{}}
	for _, callers := range crowds {
		firsts, replays := map[string][]measure{}, map[string][]measure{}
		for range rounds {
			for _, c := range contenders {
				m, err := b.once(c.first, callers, each)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", c.name, err)
				}
				firsts[c.name] = append(firsts[c.name], m)
			}
			rate, err := b.pgbench(fmt.Sprintf(pgbenchFirst, b.prefix(), len(b.result)), callers, each)
			if err != nil {
				return nil, err
			}
			firsts[byBench] = append(firsts[byBench], measure{rate: rate})
			for _, c := range contenders {
				if c.replay == nil {
					continue
				}
				m, err := b.once(c.replay, callers, each)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", c.name, err)
				}
				replays[c.name] = append(replays[c.name], m)
			}
			rate, err = b.pgbench(fmt.Sprintf(pgbenchReplay, replayKeys-1, b.table), callers, each)
			if err != nil {
				return nil, err
			}
			replays[byBench] = append(replays[byBench], measure{rate: rate})
		}
		settle(r.first, firsts, callers)
		settle(r.replay, replays, callers)
	}
	r.firstOrder = []string{byHand, ungroup, byBench, grouped}
	r.replayOrder = []string{ungroup, byBench, grouped}
	return r, nil
}

func settle(into map[string]map[int]measure, runs map[string][]measure, callers int) {
	for name, m := range runs {
		if into[name] == nil {
			into[name] = map[int]measure{}
		}
		into[name][callers] = median(m)
	}
}

// once makes one run, and measures its WAL.
func (b *bench) once(open func(int) (func(int, int) error, func(), error), callers int, each time.Duration) (measure, error) {
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
	table(w, "first executions a second", r.first, r.firstOrder)
	table(w, "replays a second", r.replay, r.replayOrder)
	bars(w, r)
}

func table(w io.Writer, title string, all map[string]map[int]measure, order []string) {
	fmt.Fprintf(w, "%-20s", title)
	for _, callers := range crowds {
		fmt.Fprintf(w, "%30s", fmt.Sprintf("%d callers", callers))
	}
	fmt.Fprintln(w)
	for _, name := range order {
		fmt.Fprintf(w, "  %-18s", name)
		for _, callers := range crowds {
			m := all[name][callers]
			cell := fmt.Sprintf("%.0f", m.rate)
			if m.p50 > 0 {
				cell += fmt.Sprintf(" p50 %s p99 %s", short(m.p50), short(m.p99))
			}
			fmt.Fprintf(w, "%30s", cell)
		}
		if name != byBench {
			fmt.Fprintf(w, "   %.0f B of WAL a call", all[name][crowds[0]].wal)
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
		for i, callers := range crowds {
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
