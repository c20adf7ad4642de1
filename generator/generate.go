package generator

import (
	"github.com/idemgen/idem/generator/internal/analyze"
	"github.com/idemgen/idem/generator/internal/diag"
	"github.com/idemgen/idem/generator/internal/directive"
	"github.com/idemgen/idem/generator/internal/emit"
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
	loaded, err := load.Packages(load.Config{Dir: o.Dir, Tags: o.Tags, Mention: directive.Mentions, Output: isOurs}, o.Packages...)
	if err != nil {
		return nil, err
	}
	r := &Result{Diagnostics: loaded.Problems}
	modules := modulesOf(loaded.Matched)
	for _, p := range loaded.Packages {
		parsed, problems := parse(p)
		checked := analyze.Check(parsed)
		r.Notes = append(r.Notes, checked.Notes...)
		if problems = append(problems, checked.Problems...); len(problems) > 0 {
			r.Diagnostics = append(r.Diagnostics, problems...)
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

// parse reads the directives of a package.
func parse(p *load.Package) (*analyze.Package, []diag.Diagnostic) {
	parsed := &analyze.Package{Path: p.Path, Types: p.Types, Fset: p.Fset, Errors: p.Errors}
	var problems []diag.Diagnostic
	for _, f := range p.Files {
		file := analyze.File{Path: f.Path, Syntax: f.Syntax}
		if f.Mentioned {
			methods, found := directive.Parse(p.Fset, f.Syntax)
			file.Methods, problems = methods, append(problems, found...)
		}
		parsed.Files = append(parsed.Files, file)
	}
	return parsed, problems
}
