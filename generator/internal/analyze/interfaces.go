package analyze

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/idemgen/idem/generator/internal/model"
)

// iface makes the model of a package-level type's wrapper. ok is false if the
// type gets none.
func (c *checker) iface(f *File, s *speller, spec *ast.TypeSpec) (out model.Interface, ok bool) {
	own := c.ownMethods(spec)
	obj, _ := c.Types.Scope().Lookup(spec.Name.Name).(*types.TypeName)
	if obj == nil || placeOf(c.at(spec.Name.Pos())) != c.placeOfObject(obj) {
		// Another declaration of the name won.
		if c.annotated(own) {
			c.errorsIn(spec)
		}
		return out, false
	}
	t, ok := obj.Type().Underlying().(*types.Interface)
	if !ok {
		return out, false
	}
	keyed, conflict := c.keyedMethods(t)
	if len(keyed) == 0 {
		return out, false
	}
	name := c.at(spec.Name.Pos())
	switch {
	case c.errorsIn(spec) || c.unresolved(t, name):
		return out, false
	case !t.IsMethodSet():
		c.report(name, "%s can be used as a constraint only, so no wrapper can be a value of it: annotate an interface of methods alone", obj.Name())
		return out, false
	case conflict != "":
		c.report(name, "%s inherits different keys for %s: declare the method again in %s, with the one that counts", obj.Name(), conflict, obj.Name())
		return out, false
	}
	if m := c.foreign(t); m != nil {
		c.report(name, "%s has the unexported method %s of package %s, which nothing outside of that package can implement: "+
			"annotate an interface of the methods that you call", obj.Name(), m.Name(), m.Pkg().Path())
		return out, false
	}

	out = model.Interface{Name: obj.Name(), Position: model.Position{File: f.Path, Line: name.Line, Column: name.Column}}
	out.Wrapper, out.Constructor = wrapperNames(obj.Name())
	if !c.free(out.Wrapper, obj, name) || !c.free(out.Constructor, obj, name) {
		return out, false
	}
	params := typeParams(obj.Type())
	for p := range params.TypeParams() {
		out.TypeParams = append(out.TypeParams, model.TypeParameter{Name: p.Obj().Name(), Constraint: s.typ(p.Constraint())})
	}
	for _, m := range c.inOrder(t, own) {
		method := c.method(s, m)
		if problem := s.fault(); problem != "" {
			c.report(name, "the method %s of %s cannot be written in this package: %s", m.Name(), obj.Name(), problem)
		}
		if a := keyed[m.Name()]; a != nil {
			method.Keyed = c.keyed(&member{annotation: a, owner: obj, fn: m, params: params, speller: s, inherited: own[m.Name()] == nil})
		}
		out.Methods = append(out.Methods, method)
	}
	return out, true
}

// ownMethods maps the names of the methods that the type's own interface
// literal declares to their fields.
func (c *checker) ownMethods(spec *ast.TypeSpec) map[string]*ast.Field {
	own := map[string]*ast.Field{}
	if i, ok := ast.Unparen(spec.Type).(*ast.InterfaceType); ok {
		for _, field := range i.Methods.List {
			if _, ok := field.Type.(*ast.FuncType); ok && len(field.Names) == 1 {
				own[field.Names[0].Name] = field
			}
		}
	}
	return own
}

// annotated reports whether one of the methods has directives.
func (c *checker) annotated(own map[string]*ast.Field) bool {
	for _, field := range own {
		if c.methods[placeOf(c.at(field.Names[0].Pos()))] != nil {
			return true
		}
	}
	return false
}

// keyedMethods finds the annotations of an interface's methods: the method's
// own, or that of an embedded interface of the same package. conflict is the
// name of a method that inherits annotations which do not agree.
func (c *checker) keyedMethods(t *types.Interface) (keyed map[string]*annotation, conflict string) {
	keyed = map[string]*annotation{}
	explicit := map[string]bool{}
	for m := range t.ExplicitMethods() {
		explicit[m.Name()] = true
		if a := c.methods[c.placeOfObject(m)]; a != nil {
			keyed[m.Name()] = a
		}
	}
	for etyp := range t.EmbeddedTypes() {
		embedded, ok := etyp.Underlying().(*types.Interface)
		if !ok {
			continue
		}
		inherited, inner := c.keyedMethods(embedded)
		for name, a := range inherited {
			if explicit[name] {
				continue
			}
			before := keyed[name]
			if before != nil && before != a && !sameDirectives(before, a) {
				conflict = name
			}
			keyed[name] = a
		}
		if inner != "" && !explicit[inner] {
			conflict = inner
		}
	}
	return keyed, conflict
}

// sameDirectives reports whether two annotations of methods with one signature
// mean the same, though the parameters may have other names.
func sameDirectives(a, b *annotation) bool {
	if len(a.Directives) != len(b.Directives) {
		return false
	}
	for name, d := range a.Directives {
		other, ok := b.Directives[name]
		if !ok {
			return false
		}
		mine, its := d.Args, other.Args
		if name == "key" || name == "fingerprint" {
			mine, its = numbered(mine, a.Field), numbered(its, b.Field)
		}
		if mine != its {
			return false
		}
	}
	return true
}

// numbered writes expressions with the numbers of a method's parameters for
// their names.
func numbered(args string, field *ast.Field) string {
	names := map[string]string{}
	n := 0
	for _, group := range field.Type.(*ast.FuncType).Params.List {
		for _, name := range group.Names {
			names[name.Name] = fmt.Sprint("$", n)
			n++
		}
		n += max(0, 1-len(group.Names))
	}
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(args)), []byte(args), func(token.Position, string) {}, 0)
	var words []string
	before := token.ILLEGAL
	for {
		_, tok, word := s.Scan()
		switch {
		case tok == token.EOF:
			return strings.Join(words, " ")
		case tok == token.IDENT && before != token.PERIOD && names[word] != "":
			word = names[word]
		case word == "":
			word = tok.String()
		}
		words = append(words, word)
		before = tok
	}
}

// foreign returns a method that only another package can implement.
func (c *checker) foreign(t *types.Interface) *types.Func {
	for m := range t.Methods() {
		if !isExported(m.Name(), m.Pkg(), c.Types) {
			return m
		}
	}
	return nil
}

// inOrder returns all methods: those that the type declares itself in the order
// of the source, then the others by name. The positions of those would depend
// on which file was read first.
func (c *checker) inOrder(t *types.Interface, own map[string]*ast.Field) []*types.Func {
	methods := slices.Collect(t.Methods())
	slices.SortFunc(methods, func(a, b *types.Func) int {
		fieldA, fieldB := own[a.Name()], own[b.Name()]
		switch {
		case fieldA != nil && fieldB != nil:
			return cmp.Compare(fieldA.Pos(), fieldB.Pos())
		case fieldA != nil:
			return -1
		case fieldB != nil:
			return 1
		}
		return strings.Compare(a.Id(), b.Id())
	})
	return methods
}

// free reports whether the package does not declare name itself.
func (c *checker) free(name string, of types.Object, at token.Position) bool {
	other := c.Types.Scope().Lookup(name)
	if other == nil {
		return true
	}
	p := c.placeOfObject(other)
	c.report(token.Position{Filename: p.file, Line: p.line, Column: p.column},
		"%s is declared here, and the wrapper of %s (line %d) needs that name: rename one of the two", name, of.Name(), at.Line)
	return false
}

// wrapperNames are exported where the interface is.
func wrapperNames(name string) (wrapper, constructor string) {
	r, size := utf8.DecodeRuneInString(name)
	upper := string(unicode.ToUpper(r)) + name[size:]
	if unicode.IsUpper(r) {
		return "Idempotent" + upper, "NewIdempotent" + upper
	}
	return "idempotent" + upper, "newIdempotent" + upper
}

// typeParams returns the type parameters that a declared type or alias has.
func typeParams(t types.Type) *types.TypeParamList {
	switch t := t.(type) {
	case *types.Alias:
		return t.TypeParams()
	case *types.Named:
		return t.TypeParams()
	default:
		return nil
	}
}
