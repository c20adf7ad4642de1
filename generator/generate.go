package generator

import (
	"github.com/idemgen/idem/generator/internal/diag"
	"github.com/idemgen/idem/generator/internal/directive"
	"github.com/idemgen/idem/generator/internal/emit"
	"github.com/idemgen/idem/generator/internal/inspect"
	"github.com/idemgen/idem/generator/internal/load"
)

// Options say what to generate wrappers for.
type Options struct {
	Dir      string   // in which the go command resolves Packages
	Packages []string // patterns, as for the go command
	Tags     string   // build tags, separated by commas
	Accept   bool     // that code drifts from what the lock file records
}

// Generate loads the packages, reads their directives, checks these against
// the types, prints the wrappers, compares their operations with what the lock
// file of the module records, and looks for outputs whose source is gone.
// It reads the disk and changes nothing.
//
// Mistakes in the source are in the result. The error says that there is none,
// because the packages could not be loaded.
func Generate(o Options) (*Result, error) {
	loaded, err := o.load(o.Dir, o.Packages...)
	if err != nil {
		return nil, err
	}
	r := &Result{Diagnostics: loaded.Problems}
	modules := modulesOf(loaded.Matched)
	for _, p := range loaded.Packages {
		checked := inspect.Package(p)
		r.Notes = append(r.Notes, checked.Notes...)
		if len(checked.Problems) > 0 {
			r.Diagnostics = append(r.Diagnostics, checked.Problems...)
			continue
		}
		texts, err := emit.Files(checked.Files)
		if err != nil {
			return nil, err
		}
		if err := r.add(checked.Files, texts); err != nil {
			return nil, err
		}
		operations(modules, p.Path, checked.Files)
		r.Operations = append(r.Operations, explain(checked.Files)...)
	}
	for _, m := range modules {
		if err := r.lock(m, o); err != nil {
			return nil, err
		}
	}
	r.Diagnostics = diag.Sort(r.Diagnostics)
	r.Notes = diag.Sort(r.Notes)
	r.orphans(loaded.Outputs)
	return r, nil
}

func (o Options) load(dir string, patterns ...string) (*load.Result, error) {
	return load.Packages(load.Config{Dir: dir, Tags: o.Tags, Mention: directive.Mentions, Output: isOurs}, patterns...)
}
