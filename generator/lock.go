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
	moved := r.share(m, o, recorded)
	judged := func(e *lock.Entry) bool {
		dir, ok := m.packages[e.Package]
		if !ok {
			return moved[e.ID()] || m.deleted(e.Package, o)
		}
		return !r.stopped(dir)
	}
	if !o.Accept {
		drifts := lock.Compare(recorded, r.current(m), judged)
		for _, d := range drifts {
			r.Diagnostics = append(r.Diagnostics, d.Diagnostic)
			if dir, ok := m.packages[d.Package]; ok {
				r.refuse(dir)
			}
		}
	}
	switch merged := lock.Merge(recorded, r.current(m), judged, o.Accept); {
	case len(merged) > 0:
		r.Locks = append(r.Locks, Output{path, lock.Text(merged)})
	case exists:
		r.Orphans = append(r.Orphans, path)
	}
	return nil
}

// current returns the operations of a module's packages, other than of those
// that get no outputs.
func (r *Result) current(m *module) []lock.Entry {
	return slices.DeleteFunc(slices.Clone(m.entries), func(e lock.Entry) bool { return r.stopped(m.packages[e.Package]) })
}

// stopped reports whether nothing is made for a folder.
func (r *Result) stopped(dir string) bool { return r.refused[dir] || r.mistaken()[dir] }

// refuse takes the outputs of a folder back, and keeps what is in it.
func (r *Result) refuse(dir string) {
	if r.refused == nil {
		r.refused = map[string]bool{}
	}
	r.refused[dir] = true
	r.Outputs = slices.DeleteFunc(r.Outputs, func(o Output) bool { return filepath.Dir(o.Path) == dir })
}
