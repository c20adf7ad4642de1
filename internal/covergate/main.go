// Command covergate reads a coverage profile of go test and fails if too
// little of the hand-written code was run.
//
//	covergate -min 90 coverage.out
//
// A statement that several test binaries could have run counts as covered if
// one of them did. Generated files (x_idem.go), examples and the project's
// own development programs do not count.
package main

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("covergate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	least := flags.Float64("min", 90, "the least coverage, in percent of the statements")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() != 1 {
		fmt.Fprintln(stderr, "usage: covergate [-min percent] profile")
		return 2
	}
	profile, err := os.Open(flags.Arg(0))
	if err != nil {
		fmt.Fprintln(stderr, "covergate:", err)
		return 2
	}
	defer profile.Close()
	blocks, err := read(profile)
	if err != nil {
		fmt.Fprintf(stderr, "covergate: %s: %v\n", flags.Arg(0), err)
		return 2
	}
	if percent := report(stdout, blocks); percent < *least {
		fmt.Fprintf(stderr, "covergate: coverage of hand-written code is %.1f%%, below %g%%\n", percent, *least)
		return 1
	}
	return 0
}

// A block is a run of statements, named by its file and position.
type block struct {
	statements int
	covered    bool
}

// read merges the lines of a profile that describe the same block.
func read(r io.Reader) (map[string]block, error) {
	blocks := make(map[string]block)
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		line := lines.Text()
		if strings.HasPrefix(line, "mode:") {
			continue
		}
		// The line is NAME.go:LINE.COLUMN,LINE.COLUMN STATEMENTS COUNT.
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, fmt.Errorf("line %d is not a line of a profile: %q", number, line)
		}
		statements, err := strconv.Atoi(fields[1])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		count, err := strconv.ParseUint(fields[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if !counts(fields[0]) {
			continue
		}
		b := blocks[fields[0]]
		b.statements = statements
		b.covered = b.covered || count > 0
		blocks[fields[0]] = b
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(blocks) == 0 {
		return nil, errors.New("the profile has no statement of hand-written code")
	}
	return blocks, nil
}

// counts reports whether the code at position, FILE:LINE…, is held to the
// limit.
func counts(position string) bool {
	file, _, _ := strings.Cut(position, ":")
	if strings.HasSuffix(file, "_idem.go") {
		return false
	}
	for _, folder := range []string{"/examples/", "/internal/bench/", "/testdata/"} {
		if strings.Contains(file, folder) {
			return false
		}
	}
	return true
}

// report prints the coverage of each package, the least covered first, and
// returns that of all.
func report(w io.Writer, blocks map[string]block) float64 {
	type tally struct {
		name           string
		covered, total int
	}
	percent := func(t tally) float64 { return 100 * float64(t.covered) / float64(t.total) }
	all := tally{name: "hand-written code"}
	packages := make(map[string]tally)
	for position, b := range blocks {
		file, _, _ := strings.Cut(position, ":")
		p := packages[path.Dir(file)]
		p.name = path.Dir(file)
		p.total += b.statements
		all.total += b.statements
		if b.covered {
			p.covered += b.statements
			all.covered += b.statements
		}
		packages[p.name] = p
	}
	rows := make([]tally, 0, len(packages)+1)
	for _, p := range packages {
		rows = append(rows, p)
	}
	slices.SortFunc(rows, func(a, b tally) int {
		return cmp.Or(cmp.Compare(percent(a), percent(b)), cmp.Compare(a.name, b.name))
	})
	for _, row := range append(rows, all) {
		fmt.Fprintf(w, "%6.1f%%  %s (%d of %d statements)\n", percent(row), row.name, row.covered, row.total)
	}
	return percent(all)
}
