package generator

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/idemgen/idem/generator/internal/emit"
	"github.com/idemgen/idem/generator/internal/lock"
)

// State is how a file on disk relates to what the generator made.
type State string

// The states of a file that has to change.
const (
	Missing  State = "missing"  // there is no such file yet
	Stale    State = "stale"    // the file has another content
	Orphaned State = "orphaned" // ours, but what it was made from is gone
)

// A Change is what has to happen to one file.
type Change struct {
	Path  string // absolute
	State State
	Old   []byte      // nil if Missing
	New   []byte      // nil if Orphaned
	Mode  fs.FileMode // permissions of the file, 0 if Missing
}

// Changes compares the result with the disk. It reads files and changes none.
// Files that are as they should be are left out.
func (r *Result) Changes() ([]Change, error) {
	var changes []Change
	for _, o := range slices.Concat(r.Outputs, r.Locks) {
		c := Change{Path: o.Path, State: Stale, New: o.Text}
		err := c.read()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			c.State = Missing
		case err != nil:
			return nil, err
		case bytes.Equal(lf(c.Old), lf(c.New)):
			continue
		}
		changes = append(changes, c)
	}
	for _, path := range r.Orphans {
		c := Change{Path: path, State: Orphaned}
		if err := c.read(); err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes, nil
}

// read fills in what is on disk.
func (c *Change) read() error {
	info, err := os.Stat(c.Path)
	if err != nil {
		return err
	}
	c.Mode = info.Mode().Perm()
	c.Old, err = os.ReadFile(c.Path)
	return err
}

// lf is text with the line ends of Unix. A checkout that gave the file others
// did not change what it says.
func lf(text []byte) []byte {
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
}

// isOurs reports whether text is a file that idemgen wrote.
func isOurs(text []byte) bool {
	line, _, _ := bytes.Cut(lf(text), []byte("\n"))
	return emit.IsOutput(text) || string(line) == lock.Header
}
