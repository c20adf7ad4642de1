// Idemgen writes, for each interface that has a method with an //idem:key
// directive, a decorator that runs the method once per key.
//
//	idemgen [-check] [-diff] [-accept] [-explain] [-tags list] [-json] [-v] [-version] [packages]
//
// Packages are named as for the go command; the default is the package of the
// current directory. The decorators of the interfaces in x.go go to x_idem.go
// beside it. A file that idemgen did not write is never overwritten, and one
// that it wrote is removed once there is nothing to generate it from.
//
// The flags are:
//
//	-check      write nothing; name each file that is missing, stale or orphaned
//	-diff       write nothing; print what would change as a unified diff
//	-accept     record changes of operations that idem.lock guards
//	-explain    write nothing; print what each operation does: its key, its
//	            fingerprint, its policies, and what a replay would lose
//	-tags list  build tags, separated by commas
//	-json       print diagnostics and files as one JSON object on standard output
//	-v          name what was written and what fingerprints leave out
//	-version    print the version
//
// The file idem.lock beside go.mod records what running systems have stored: the
// keys of each operation, what its fingerprint covers, and the shapes of its
// results and final errors. A change of the code that they would notice is a
// mistake, unless -accept says that it is intended.
// Commit the file.
//
// As the tool of go vet it reports mistakes, and wrappers that are not as they
// should be, wherever go vet does:
//
//	go vet -vettool=$(which idemgen) ./...
//
// Mistakes are reported as file:line:col: message, all of a run's at once. The
// exit status is 0 if all is well, 1 if there were mistakes or -check found
// something to do, and 2 if idemgen could not do its work.
package main

import (
	"os"
	"runtime/debug"

	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/idemgen/idem/generator/analyzer"
)

func main() {
	if isVet(os.Args[1:]) {
		unitchecker.Main(analyzer.Analyzer)
	}
	if os.Getenv("GOGC") == "" {
		// The command is done before collecting garbage would pay.
		debug.SetGCPercent(400)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
