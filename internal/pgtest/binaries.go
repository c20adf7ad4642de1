package pgtest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// serverDirs holds the places where distributions put the server's binaries,
// outside of PATH because several versions can be installed side by side.
var serverDirs = []string{
	"/usr/lib/postgresql/*/bin", // Debian
	"/usr/pgsql-*/bin",          // the PostgreSQL project's RPMs
	"/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin",
}

// A MissingError says which program a test needs and how to get it.
type MissingError struct {
	Program string
	Package string // Debian's
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("pgtest: %s is not installed; run: apt-get update && apt-get install -y %s", e.Program, e.Package)
}

// Binary returns the path of one of PostgreSQL's programs, such as "initdb" or
// "pgbench": of the newest version installed, or the one in PATH.
func Binary(name string) (string, error) {
	for _, pattern := range serverDirs {
		found, err := filepath.Glob(filepath.Join(pattern, name))
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			return slices.MaxFunc(found, byVersion), nil
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return "", &MissingError{Program: name, Package: "postgresql"}
}

// byVersion orders paths by the last number in them, so that 15 follows 9.
func byVersion(a, b string) int { return version(a) - version(b) }

func version(path string) int {
	end := len(path)
	for end > 0 && !digit(path[end-1]) {
		end--
	}
	start := end
	for start > 0 && digit(path[start-1]) {
		start--
	}
	n, err := strconv.Atoi(path[start:end])
	if err != nil {
		return 0
	}
	return n
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
