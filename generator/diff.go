package generator

import (
	"io"
	"path/filepath"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/idemgen/idem/generator/internal/diag"
)

// Diff returns the changes as a unified diff that patch -p1 can apply in dir.
func Diff(dir string, changes []Change) []byte {
	var out []byte
	for _, c := range changes {
		name := filepath.ToSlash(Relative(dir, c.Path))
		before, after := "a/"+name, "b/"+name
		switch c.State {
		case Missing:
			before = "/dev/null"
		case Orphaned:
			after = "/dev/null"
		}
		out = append(out, diff.Diff(before, c.Old, after, c.New)...)
	}
	return out
}

// Relative is how messages name a file: relative to dir if it is inside.
func Relative(dir, path string) string { return diag.Relative(dir, path) }

// Print writes one line a diagnostic, "file:line:col: message", with files
// named relative to dir.
func Print(w io.Writer, dir string, list []Diagnostic) { diag.Print(w, dir, list) }
