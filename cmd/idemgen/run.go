package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/idemgen/idem/generator"
)

// The exit statuses.
const (
	fine      = 0
	different = 1 // mistakes in the source, or files that -check would change
	failed    = 2
)

// options are the command line.
type options struct {
	check, diff, accept, explain, json, verbose, version bool

	tags     string
	packages []string
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("idemgen", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: idemgen [-check] [-diff] [-accept] [-explain] [-tags list] [-json] [-v] [-version] [packages]")
		flags.PrintDefaults()
	}
	flags.BoolVar(&o.check, "check", false, "write nothing; name each file that is missing, stale or orphaned")
	flags.BoolVar(&o.diff, "diff", false, "write nothing; print what would change as a unified diff")
	flags.BoolVar(&o.accept, "accept", false, "record changes of operations that idem.lock guards")
	flags.BoolVar(&o.explain, "explain", false, "write nothing; print what each operation does")
	flags.StringVar(&o.tags, "tags", "", "build tags, separated by commas")
	flags.BoolVar(&o.json, "json", false, "print diagnostics and files as one JSON object")
	flags.BoolVar(&o.verbose, "v", false, "name what was written and what fingerprints leave out")
	flags.BoolVar(&o.version, "version", false, "print the version")
	err := flags.Parse(args)
	o.packages = flags.Args()
	if len(o.packages) == 0 {
		o.packages = []string{"."}
	}
	return o, err
}

// isVet reports whether go vet runs the command as its tool: it asks for the
// version of the executable and for its flags, and then hands a file with each
// package.
func isVet(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		return arg == "-V=full" || arg == "-flags" || strings.HasSuffix(arg, ".cfg")
	})
}

// run is the command, and returns its exit status.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return fine
	case err != nil:
		return failed // the flag package said why
	case o.version:
		fmt.Fprintln(stdout, version())
		return fine
	}
	status, err := generate(o, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "idemgen:", err)
		return failed
	}
	return status
}

// generate does what o asks for and reports it.
func generate(o options, stdout, stderr io.Writer) (status int, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return failed, err
	}
	result, err := generator.Generate(generator.Options{Dir: dir, Packages: o.packages, Tags: o.tags, Accept: o.accept || o.explain})
	if err != nil {
		return failed, err
	}
	if o.explain {
		return tell(o, dir, result, stdout, stderr)
	}
	changes, err := result.Changes()
	if err != nil {
		return failed, err
	}
	write := !o.check && !o.diff
	if write {
		if err := generator.Commit(changes); err != nil {
			return failed, err
		}
	}
	r := report{dir: dir, result: result, changes: changes, written: write}
	if o.json {
		err = r.json(stdout)
	} else {
		err = r.text(o, stdout, stderr)
	}
	if len(result.Diagnostics) > 0 || o.check && len(changes) > 0 {
		return different, err
	}
	return fine, err
}

// tell prints what the operations do, and the mistakes of packages that have
// some. It does not look at what is recorded of them.
func tell(o options, dir string, result *generator.Result, stdout, stderr io.Writer) (status int, err error) {
	generator.Print(stderr, dir, result.Diagnostics)
	if o.json {
		err = explainJSON(stdout, result.Operations)
	} else {
		err = explain(stdout, dir, result.Operations)
	}
	if len(result.Diagnostics) > 0 {
		return different, err
	}
	return fine, err
}
