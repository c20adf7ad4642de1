// Command generate measures idemgen against listing the same packages, which
// is the least that any generator with types has to wait for, and against
// generators of mocks and decorators on the same interfaces, all in one run.
//
// It makes a module of its own in a temporary folder and installs the others
// there, through the module proxy.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// bar is what idemgen may take, as a multiple of the listing.
const bar = 1.5

func main() {
	rounds := flag.Int("rounds", 5, "how often each tool runs; the median counts")
	flag.Parse()
	if err := run(os.Stdout, *rounds, rivals); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// A contender is what is measured.
type contender struct {
	name    string
	program string
	runs    [][]string // arguments of each command of a round
	remove  []string   // files that are gone when a round begins
	times   []time.Duration
	missing error // why a rival has no times
}

func run(w io.Writer, rounds int, rivals []tool) (err error) {
	project, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "generate")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	bin, module := filepath.Join(dir, "bin"), filepath.Join(dir, "module")
	if err := command(project, []string{"GOBIN=" + bin}, "go", "install", "github.com/idemgen/idem/cmd/idemgen"); err != nil {
		return err
	}
	if err := writeModule(module, project); err != nil {
		return err
	}
	idemgen := filepath.Join(bin, "idemgen")
	written := []string{filepath.Join(module, "service", "service_idem.go"), filepath.Join(module, "idem.lock")}
	contenders := []*contender{
		{name: "go list -export -deps -test", program: "go", runs: [][]string{{"list", "-export", "-deps", "-test", "./..."}}},
		{name: "idemgen, all to write", program: idemgen, runs: [][]string{{"./..."}}, remove: written},
		{name: "idemgen, nothing to write", program: idemgen, runs: [][]string{{"./..."}}},
	}
	ours := len(contenders)
	for _, r := range rivals {
		contenders = append(contenders, enter(r, filepath.Join(dir, r.name), bin))
	}
	for round := range rounds + 1 {
		for i, c := range contenders {
			// The first round is for the caches.
			if err := c.measure(module, round > 0); err != nil && i < ours {
				return err
			}
		}
	}
	return table(w, contenders)
}

// enter installs a rival.
func enter(t tool, dir, bin string) *contender {
	c := &contender{name: t.name, program: filepath.Join(bin, t.name)}
	if c.missing = t.install(filepath.Join(dir, "install"), bin); c.missing == nil {
		c.runs, c.missing = t.prepare(dir)
	}
	return c
}

// measure runs a round.
func (c *contender) measure(module string, counts bool) error {
	if c.missing != nil {
		return c.missing
	}
	for _, path := range c.remove {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	begin := time.Now()
	for _, args := range c.runs {
		if c.missing = command(module, nil, c.program, args...); c.missing != nil {
			return c.missing
		}
	}
	if counts {
		c.times = append(c.times, time.Since(begin))
	}
	return nil
}

// table prints the medians, as multiples of the first contender's. Those of
// idemgen stand beside the bar.
func table(w io.Writer, contenders []*contender) error {
	base := median(contenders[0].times)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "command\ttime\tratio\tbar")
	for _, c := range contenders {
		if c.missing != nil {
			fmt.Fprintf(t, "%s\tnot measured\t\t\n", c.name)
			continue
		}
		ratio, verdict := float64(median(c.times))/float64(base), ""
		if strings.HasPrefix(c.name, "idemgen") {
			verdict = fmt.Sprintf("≤ %.1f, met", bar)
			if ratio > bar {
				verdict = fmt.Sprintf("≤ %.1f, MISSED", bar)
			}
		}
		fmt.Fprintf(t, "%s\t%d ms\t%.2f\t%s\n", c.name, median(c.times).Milliseconds(), ratio, verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, c := range contenders {
		if c.missing != nil {
			fmt.Fprintf(w, "\n%s: %v\n", c.name, c.missing)
		}
	}
	return nil
}

func median(times []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(times))[len(times)/2]
}
