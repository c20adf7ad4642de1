package generator

import (
	"path/filepath"
	"slices"

	"github.com/idemgen/idem/generator/internal/inspect"
	"github.com/idemgen/idem/generator/internal/lock"
	"github.com/idemgen/idem/generator/internal/model"
)

// share refuses packages with an operation that another one of the module has
// too. What is recorded of packages outside of the run is looked up in their
// sources; moved are those that are not there any more.
func (r *Result) share(m *module, o Options, recorded []lock.Entry) (moved map[lock.ID]bool) {
	current := r.current(m)
	rivals := lock.Rivals(recorded, current, func(pkg string) bool { return m.packages[pkg] != "" })
	moved = map[lock.ID]bool{}
	var others []lock.Entry
	for _, e := range rivals {
		found, known := m.lookUp(e.Package, o)
		switch i := slices.IndexFunc(found, func(f lock.Entry) bool { return f.Operation == e.Operation }); {
		case !known:
			others = append(others, e)
		case i < 0:
			moved[e.ID()] = true
		default:
			others = append(others, found[i])
		}
	}
	for _, d := range lock.Shared(recorded, current, others, m.root) {
		r.Diagnostics = append(r.Diagnostics, d.Diagnostic)
		r.refuse(m.packages[d.Package])
	}
	return moved
}

// lookUp returns the operations of a package outside of the run. They are not
// known while it cannot be loaded or has mistakes of its own.
func (m *module) lookUp(pkg string, o Options) (found []lock.Entry, known bool) {
	if dir, ok := m.folder(pkg); !ok || !hasGo(dir) {
		return nil, true
	}
	loaded, err := o.load(m.root, pkg)
	if err != nil || len(loaded.Problems) > 0 {
		return nil, false
	}
	var files []model.File
	for _, p := range loaded.Packages {
		checked := inspect.Package(p)
		if len(checked.Problems) > 0 {
			return nil, false
		}
		files = append(files, checked.Files...)
	}
	return lock.Entries(files), true
}

func hasGo(dir string) bool {
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	return len(files) > 0
}
