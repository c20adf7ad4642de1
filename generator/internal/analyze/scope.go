package analyze

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
)

// fill puts into scope what an expression may name beside the package's own:
// the imports of its file, then those of the package's other files, because an
// import that only a directive uses does not compile; the interface's type
// parameters; the method's parameters.
func (x *expressions) fill(scope *types.Scope) {
	for p := range x.member.params.TypeParams() {
		scope.Insert(p.Obj())
	}
	for _, v := range x.vars {
		if v.Name() != "" && v.Name() != "_" {
			scope.Insert(v)
		}
	}
	imports := map[string]types.Object{}
	x.addImports(imports, x.member.file)
	others := map[string]types.Object{}
	for i := range x.Files {
		if f := &x.Files[i]; f != x.member.file {
			x.addImports(others, f)
		}
	}
	for name, o := range others {
		if imports[name] == nil {
			imports[name] = o
		}
	}
	for name, o := range imports {
		if o != nil && scope.Lookup(name) == nil && x.Types.Scope().Lookup(name) == nil {
			scope.Insert(o)
		}
	}
}

// addImports adds the names that a file imports, nil for one that stands for
// different things.
func (x *expressions) addImports(names map[string]types.Object, f *File) {
	add := func(name string, o types.Object) {
		if before, ok := names[name]; ok && !sameImport(before, o) {
			x.ambiguous[name] = true
			o = nil
		}
		names[name] = o
	}
	for _, spec := range f.Syntax.Imports {
		p := x.imported(importPath(spec))
		switch {
		case p == nil:
		case spec.Name == nil:
			add(p.Name(), types.NewPkgName(token.NoPos, x.Types, p.Name(), p))
		case spec.Name.Name == "_":
		case spec.Name.Name == ".":
			for _, name := range p.Scope().Names() {
				if token.IsExported(name) {
					add(name, p.Scope().Lookup(name))
				}
			}
		default:
			add(spec.Name.Name, types.NewPkgName(token.NoPos, x.Types, spec.Name.Name, p))
		}
	}
}

func sameImport(a, b types.Object) bool {
	p, ok := a.(*types.PkgName)
	q, both := b.(*types.PkgName)
	return a == b || ok && both && p.Imported() == q.Imported()
}

func (x *expressions) imported(importPath string) *types.Package {
	if importPath == "unsafe" {
		return types.Unsafe
	}
	list := x.Types.Imports()
	i := slices.IndexFunc(list, func(p *types.Package) bool {
		// A vendored package's path has a prefix that no source spells.
		return p.Path() == importPath || strings.HasSuffix(p.Path(), "/vendor/"+importPath)
	})
	if i < 0 {
		return nil
	}
	return list[i]
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return ""
	}
	return path.Clean(p)
}
