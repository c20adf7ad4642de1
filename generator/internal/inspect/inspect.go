// Package inspect reads the directives of a loaded package and checks them
// against its types.
package inspect

import (
	"github.com/idemgen/idem/generator/internal/analyze"
	"github.com/idemgen/idem/generator/internal/diag"
	"github.com/idemgen/idem/generator/internal/directive"
	"github.com/idemgen/idem/generator/internal/load"
)

// Package returns a model of each output that the package needs, what is worth
// knowing, and all mistakes. With a mistake the models are of no use.
func Package(p *load.Package) analyze.Result {
	in := &analyze.Package{Path: p.Path, Types: p.Types, Fset: p.Fset, Errors: p.Errors}
	var problems []diag.Diagnostic
	for _, f := range p.Files {
		file := analyze.File{Path: f.Path, Syntax: f.Syntax}
		if f.Mentioned {
			methods, found := directive.Parse(p.Fset, f.Syntax)
			file.Methods, problems = methods, append(problems, found...)
		}
		in.Files = append(in.Files, file)
	}
	result := analyze.Check(in)
	result.Problems = append(problems, result.Problems...)
	return result
}
