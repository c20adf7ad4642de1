// Package analyze checks annotated interfaces against their types and makes
// the model of their wrappers. It is the last stage that knows go/types, and
// makes every rejection: what comes out of it can be printed.
package analyze

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idemgen/idem/generator/internal/diag"
	"github.com/idemgen/idem/generator/internal/directive"
	"github.com/idemgen/idem/generator/internal/model"
)

// A Package is what the check looks at.
type Package struct {
	Path   string
	Types  *types.Package
	Fset   *token.FileSet
	Files  []File
	Errors []types.Error // of the type check
}

// A File is a source file of the package.
type File struct {
	Path    string
	Syntax  *ast.File
	Methods []directive.Method // the annotated ones
}

// A Result is what a check found. Files is of no use if there are problems.
type Result struct {
	Files    []model.File
	Notes    []diag.Diagnostic // worth knowing, no mistakes
	Problems []diag.Diagnostic
}

// Check returns a model of each output that the package needs.
func Check(p *Package) Result {
	c := &checker{
		Package: p,
		methods: map[place]*annotation{},
		sizes:   types.SizesFor("gc", "amd64"),
	}
	for i := range p.Files {
		for j := range p.Files[i].Methods {
			m := &p.Files[i].Methods[j]
			c.methods[placeOf(c.at(m.Name.Pos()))] = &annotation{Method: m, file: &p.Files[i]}
		}
	}
	for i := range p.Files {
		c.file(&p.Files[i])
	}
	c.operations()
	c.result.Problems = diag.Sort(c.result.Problems)
	return c.result
}

type checker struct {
	*Package
	methods map[place]*annotation // by where the method's name stands
	sizes   types.Sizes
	result  Result
	named   []operation
}

// An annotation is a method with directives, and what was made of them.
type annotation struct {
	*directive.Method
	file *File
}

// A place tells positions apart that two parses of one file give.
type place struct {
	file         string
	line, column int
}

func placeOf(p token.Position) place { return place{p.Filename, p.Line, p.Column} }

// at is where pos really is, whatever //line directives say.
func (c *checker) at(pos token.Pos) token.Position { return c.Fset.PositionFor(pos, false) }

// placeOfObject is where an object is declared in the user's sources: where it
// really is, unless that is a file that cgo made of one of them.
func (c *checker) placeOfObject(o types.Object) place {
	p := c.at(o.Pos())
	if !c.isSource(p.Filename) {
		p = c.Fset.Position(o.Pos())
	}
	return placeOf(p)
}

func (c *checker) isSource(name string) bool {
	return slices.ContainsFunc(c.Files, func(f File) bool { return f.Path == name })
}

func (c *checker) report(pos token.Position, format string, args ...any) {
	c.result.Problems = append(c.result.Problems, diag.At(pos, format, args...))
}

func (c *checker) note(pos token.Position, format string, args ...any) {
	c.result.Notes = append(c.result.Notes, diag.At(pos, format, args...))
}

// file makes the model of the output for one source file.
func (c *checker) file(f *File) {
	s := &speller{pkg: c.Types, packages: map[string]model.Package{}, aliases: aliases(f.Syntax)}
	out := model.File{
		Path:        outputPath(f.Path),
		Package:     c.Types.Name(),
		PackagePath: c.Path,
		Constraint:  constraintOf(f.Path, f.Syntax),
		Taken:       c.Types.Scope().Names(),
		Packages:    s.packages,
	}
	for _, decl := range f.Syntax.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE {
			continue
		}
		for _, spec := range gen.Specs {
			spec, ok := spec.(*ast.TypeSpec)
			if !ok || spec.Name.Name == "_" {
				continue
			}
			if i, ok := c.iface(f, s, spec); ok {
				out.Interfaces = append(out.Interfaces, i)
			}
		}
	}
	if len(out.Interfaces) > 0 {
		c.result.Files = append(c.result.Files, out)
	}
}

// outputPath is x_idem.go beside x.go, and x_idem_test.go beside x_test.go.
func outputPath(source string) string {
	dir, name := filepath.Split(source)
	if base, ok := strings.CutSuffix(name, "_test.go"); ok {
		return dir + base + "_idem_test.go"
	}
	return dir + strings.TrimSuffix(name, ".go") + "_idem.go"
}

// aliases maps the paths that a file imports to the names it gives them.
func aliases(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range f.Imports {
		if spec.Name != nil && spec.Name.Name != "_" && spec.Name.Name != "." {
			names[importPath(spec)] = spec.Name.Name
		}
	}
	return names
}

// operation is a name for calls, and where it was given.
type operation struct {
	name     string
	method   string // that bears it
	position token.Position
}

// operations reports two methods that share a name, and so a key space.
func (c *checker) operations() {
	first := map[string]operation{}
	for _, o := range c.named {
		if before, ok := first[o.name]; ok && before.position != o.position {
			c.report(o.position, "the operation %s is already the one of %s: two methods with one name would replay each other's results; choose another //idem:name",
				o.name, before.method)
			continue
		}
		first[o.name] = o
	}
}
