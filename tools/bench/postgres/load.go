package main

import (
	"slices"
	"sync"
	"time"
)

// A measure is what a contender did in one run.
type measure struct {
	rate     float64 // calls a second
	p50, p99 time.Duration
	wal      float64 // bytes a call
}

// drive lets each of callers make calls, one after the other, for a time. call
// is told the caller and the number of the call.
func drive(callers int, d time.Duration, call func(caller, i int) error) (measure, error) {
	var wg sync.WaitGroup
	times := make([][]time.Duration, callers)
	errs := make([]error, callers)
	begin := time.Now()
	end := begin.Add(d)
	for caller := range callers {
		wg.Go(func() {
			for i := 0; ; i++ {
				start := time.Now()
				if start.After(end) {
					return
				}
				if err := call(caller, i); err != nil {
					errs[caller] = err
					return
				}
				times[caller] = append(times[caller], time.Since(start))
			}
		})
	}
	wg.Wait()
	took := time.Since(begin)
	for _, err := range errs {
		if err != nil {
			return measure{}, err
		}
	}
	all := slices.Concat(times...)
	slices.Sort(all)
	return measure{
		rate: float64(len(all)) / took.Seconds(),
		p50:  all[len(all)/2],
		p99:  all[len(all)*99/100],
	}, nil
}

// median returns the measure whose parts are the medians of runs' parts.
func median(runs []measure) measure {
	return measure{
		rate: middle(runs, func(m measure) float64 { return m.rate }),
		p50:  middle(runs, func(m measure) time.Duration { return m.p50 }),
		p99:  middle(runs, func(m measure) time.Duration { return m.p99 }),
		wal:  middle(runs, func(m measure) float64 { return m.wal }),
	}
}

func middle[N float64 | time.Duration](runs []measure, of func(measure) N) N {
	values := make([]N, len(runs))
	for i, m := range runs {
		values[i] = of(m)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
