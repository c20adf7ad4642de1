package generator

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/idemgen/idem/generator/internal/lock"
)

// lock compares the operations of a module with those that its lock file
// records, and notes what the file should be.
//
// A package that drifts from it gets no output, unless that was accepted, and
// what is recorded of it stays, as it does where there are mistakes.
func (r *Result) lock(m *module, o Options) error {
	path := filepath.Join(m.root, lock.Name)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	exists := err == nil
	var recorded []lock.Entry
	if exists {
		entries, problems := lock.Parse(path, text)
		if len(problems) > 0 {
			// Nobody knows what would drift.
			r.Diagnostics = append(r.Diagnostics, problems...)
			for _, dir := range m.packages {
				r.refuse(dir)
			}
			return nil
		}
		recorded = entries
	}
	mistaken := r.mistaken()
	judged := func(pkg string) bool {
		dir, ok := m.packages[pkg]
		if !ok {
			return m.deleted(pkg, o)
		}
		return !mistaken[dir] && !r.refused[dir]
	}
	current := func() []lock.Entry {
		return slices.DeleteFunc(slices.Clone(m.entries), func(e lock.Entry) bool { return !judged(e.Package) })
	}
	if !o.Accept {
		drifts := lock.Compare(recorded, current(), judged)
		for _, d := range drifts {
			r.Diagnostics = append(r.Diagnostics, d.Diagnostic)
			if dir, ok := m.packages[d.Package]; ok {
				r.refuse(dir)
			}
		}
	}
	switch merged := lock.Merge(recorded, current(), judged, o.Accept); {
	case len(merged) > 0:
		r.Locks = append(r.Locks, Output{path, lock.Text(merged)})
	case exists:
		r.Orphans = append(r.Orphans, path)
	}
	return nil
}

// refuse takes the outputs of a folder back, and keeps what is in it.
func (r *Result) refuse(dir string) {
	if r.refused == nil {
		r.refused = map[string]bool{}
	}
	r.refused[dir] = true
	r.Outputs = slices.DeleteFunc(r.Outputs, func(o Output) bool { return filepath.Dir(o.Path) == dir })
}
