package emit

import (
	"maps"

	"github.com/dave/jennifer/jen"

	"github.com/idemgen/idem/generator/internal/model"
)

// A function prints one function. Printing it records what its body mentions
// of outer scopes; the next time, no parameter and no local hides any of that.
type function struct {
	wrapper *wrapper
	decl    func(fn *function) *jen.Statement

	// source holds the names of the parameters as the interface has them,
	// which imports give way to. params are those that are printed.
	source []string
	params []string

	mentions names           // names of the package scope, the universe and type parameters
	packages map[string]bool // import paths

	block names // what the innermost block must not hide or repeat
}

func newFunction(w *wrapper, decl func(*function) *jen.Statement) *function {
	return &function{wrapper: w, decl: decl, mentions: names{}, packages: map[string]bool{}}
}

func (fn *function) print() *jen.Statement {
	fn.block = maps.Clone(fn.mentions)
	for _, name := range fn.wrapper.typeParams {
		fn.block[name] = true
	}
	for path := range fn.packages {
		fn.block[fn.wrapper.file.imports[path]] = true
	}
	return fn.decl(fn)
}

// parameters names the function's parameters. It must be called before any
// local is named.
func (fn *function) parameters(source, fallback []string) {
	fn.source = source
	fn.params = parameterNames(source, fallback, fn.block)
	for _, name := range fn.params {
		fn.block[name] = true
	}
}

// local names a variable of the innermost block.
func (fn *function) local(wanted string) string { return fn.block.fresh(wanted) }

// nested prints a block whose locals end with it.
func (fn *function) nested(statements func() []jen.Code) []jen.Code {
	outer := fn.block
	fn.block = maps.Clone(outer)
	defer func() { fn.block = outer }()
	return statements()
}

// universe prints a predeclared name.
func (fn *function) universe(name string) *jen.Statement {
	fn.mentions[name] = true
	return jen.Id(name)
}

// instance prints a name of the package scope, with the type parameters.
func (fn *function) instance(name string) *jen.Statement {
	fn.mentions[name] = true
	return fn.wrapper.instance(name)
}

// qualified prints a name of another package, or of this one.
func (fn *function) qualified(path, name string) *jen.Statement {
	if path == fn.wrapper.file.src.PackagePath {
		fn.mentions[name] = true
	} else {
		fn.packages[path] = true
	}
	return fn.wrapper.qualified(path, name)
}

// code prints code of the model inside the function's body.
func (fn *function) code(c model.Code) *jen.Statement {
	for _, piece := range c {
		switch piece.Kind {
		case model.Universe:
			fn.universe(piece.Text)
		case model.Qualified:
			fn.qualified(piece.Package, piece.Text)
		}
	}
	return fn.wrapper.pieces(c, fn.params)
}
