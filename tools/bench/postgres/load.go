package main

import (
	"errors"
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
	end := time.Now().Add(d)
	return driveWhile(callers, func(int) bool { return time.Now().Before(end) }, call)
}

func driveWhile(callers int, more func(i int) bool, call func(caller, i int) error) (measure, error) {
	var wg sync.WaitGroup
	times := make([][]time.Duration, callers)
	errs := make([]error, callers)
	begin := time.Now()
	for caller := range callers {
		wg.Go(func() {
			for i := 0; more(i); i++ {
				start := time.Now()
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
	if err := errors.Join(errs...); err != nil {
		return measure{}, err
	}
	all := slices.Concat(times...)
	if len(all) == 0 {
		return measure{}, errors.New("no call was made in time")
	}
	slices.Sort(all)
	return measure{
		rate: float64(len(all)) / took.Seconds(),
		p50:  all[len(all)/2],
		p99:  all[len(all)*99/100],
	}, nil
}

// driveCount is drive with a number of calls a caller in place of a time.
func driveCount(callers, each int, call func(caller, i int) error) (measure, error) {
	return driveWhile(callers, func(i int) bool { return i < each }, call)
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
