// Package generator turns annotated interfaces into wrappers.
//
// Making and writing are apart: Generate returns what the files should be,
// Changes compares that with the disk, and only Commit writes.
package generator

import (
	"errors"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idemgen/idem/generator/internal/diag"
	"github.com/idemgen/idem/generator/internal/model"
)

// A Diagnostic says where something is, and what.
type Diagnostic = diag.Diagnostic

// A Result is what a run found, before anything was written.
type Result struct {
	Outputs     []Output     // wrappers, sorted by path
	Locks       []Output     // lock files, one a module that has operations
	Orphans     []string     // files of ours whose source is gone, sorted
	Operations  []Operation  // of the packages without mistakes, by package and source
	Diagnostics []Diagnostic // mistakes, sorted; a package that has one has no outputs
	Notes       []Diagnostic // what is worth knowing and no mistake, sorted

	refused map[string]bool // folders of packages that drift from the lock file
}

// An Output is a generated file, or a lock file.
type Output struct {
	Path string // absolute
	Text []byte
}

// add adds the outputs of a package, unless one of them would overwrite a file
// that is not ours.
func (r *Result) add(files []model.File, texts [][]byte) error {
	var outputs []Output
	var foreign []Diagnostic
	for i, f := range files {
		switch text, err := os.ReadFile(f.Path); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !isOurs(text):
			p := f.Interfaces[0].Position
			foreign = append(foreign, diag.At(token.Position{Filename: p.File, Line: p.Line, Column: p.Column},
				"the wrapper of %s belongs in %s, which idemgen did not write and does not overwrite: rename one of the two files",
				f.Interfaces[0].Name, filepath.Base(f.Path)))
		}
		outputs = append(outputs, Output{Path: f.Path, Text: texts[i]})
	}
	if len(foreign) > 0 {
		r.Diagnostics = append(r.Diagnostics, foreign...)
		return nil
	}
	r.Outputs = append(r.Outputs, outputs...)
	return nil
}

// mistaken returns the folders in which something is wrong, and nothing is
// made.
func (r *Result) mistaken() map[string]bool {
	folders := map[string]bool{}
	for _, d := range r.Diagnostics {
		folders[filepath.Dir(d.Position.Filename)] = true
	}
	return folders
}

// orphans finds those earlier outputs that were not made again, other than in
// folders with mistakes.
func (r *Result) orphans(earlier []string) {
	slices.SortFunc(r.Outputs, func(a, b Output) int { return strings.Compare(a.Path, b.Path) })
	current := map[string]bool{}
	for _, o := range r.Outputs {
		current[o.Path] = true
	}
	mistaken := r.mistaken()
	for _, path := range earlier {
		if !current[path] && !mistaken[filepath.Dir(path)] && !r.refused[filepath.Dir(path)] {
			r.Orphans = append(r.Orphans, path)
		}
	}
	slices.Sort(r.Orphans)
}
