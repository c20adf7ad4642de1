package analyze

import (
	"cmp"
	"go/ast"
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
	obj, _ := c.Types.Scope().Lookup(spec.Name.Name).(*types.TypeName)
	if obj == nil || placeOf(c.at(spec.Name.Pos())) != c.placeOfObject(obj) {
		return out, false // another declaration of the name won; the package does not compile
	}
	t, ok := obj.Type().Underlying().(*types.Interface)
	if !ok {
		return out, false
	}
	own := c.ownMethods(spec)
	keyed, conflict := c.keyedMethods(t, own)
	if len(keyed) == 0 {
		return out, false
	}
	name := c.at(spec.Name.Pos())
	switch {
	case c.broken(spec, t, name):
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

// keyedMethods finds the annotations of an interface's methods: the method's
// own, or that of an embedded interface of the same package. conflict is the
// name of a method that inherits annotations which do not agree.
func (c *checker) keyedMethods(t *types.Interface, own map[string]*ast.Field) (keyed map[string]*annotation, conflict string) {
	keyed = map[string]*annotation{}
	for m := range t.ExplicitMethods() {
		if a := c.methods[c.placeOfObject(m)]; a != nil {
			keyed[m.Name()] = a
		}
	}
	for etyp := range t.EmbeddedTypes() {
		embedded, ok := etyp.Underlying().(*types.Interface)
		if !ok {
			continue
		}
		inherited, inner := c.keyedMethods(embedded, nil)
		for name, a := range inherited {
			if own[name] != nil {
				continue
			}
			before := keyed[name]
			if before != nil && before != a && !sameDirectives(before, a) {
				conflict = name
			}
			keyed[name] = a
		}
		if inner != "" && own[inner] == nil {
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
		if !ok || numbered(d.Args, a.Field) != numbered(other.Args, b.Field) {
			return false
		}
	}
	return true
}

// numbered replaces the names of a method's parameters by their numbers.
func numbered(args string, field *ast.Field) string {
	names := map[string]string{}
	n := 0
	for _, group := range field.Type.(*ast.FuncType).Params.List {
		for _, name := range group.Names {
			names[name.Name] = "$" + string(rune('0'+n))
			n++
		}
	}
	var b strings.Builder
	selected := false
	for len(args) > 0 {
		end := 0
		for end < len(args) {
			r, size := utf8.DecodeRuneInString(args[end:])
			if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				break
			}
			end += size
		}
		if end == 0 {
			_, end = utf8.DecodeRuneInString(args)
		}
		word := args[:end]
		if number, ok := names[word]; ok && !selected {
			word = number
		}
		selected = word == "."
		b.WriteString(word)
		args = args[end:]
	}
	return b.String()
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

// broken reports the type errors that touch an interface to wrap. Others in
// its package are none of the generator's business.
func (c *checker) broken(spec *ast.TypeSpec, t *types.Interface, name token.Position) bool {
	start, end := c.at(spec.Pos()), c.at(spec.End())
	found := false
	for _, e := range c.Errors {
		p := e.Fset.PositionFor(e.Pos, false)
		if !c.isSource(p.Filename) {
			p = e.Fset.Position(e.Pos)
		}
		if p.Filename == start.Filename && start.Line <= p.Line && p.Line <= end.Line {
			c.report(p, "%s", oneLine(e.Msg))
			found = true
		}
	}
	if found {
		return true
	}
	for m := range t.Methods() {
		if !invalid(m.Signature(), map[types.Type]bool{}) {
			continue
		}
		c.report(name, "the method %s has a type that could not be resolved", m.Name())
		for _, e := range c.Errors {
			c.report(e.Fset.Position(e.Pos), "%s", oneLine(e.Msg))
		}
		return true
	}
	return false
}

// invalid reports whether a type as it is spelled mentions one that is unknown.
// What named types are made of does not matter.
func invalid(t types.Type, seen map[types.Type]bool) bool {
	if t == nil || seen[t] {
		return false
	}
	seen[t] = true
	switch t := t.(type) {
	case *types.Basic:
		return t.Kind() == types.Invalid
	case *types.Alias:
		return invalid(types.Unalias(t), seen)
	case *types.Named:
		return anyInvalid(slices.Collect(t.TypeArgs().Types()), seen)
	case *types.Pointer:
		return invalid(t.Elem(), seen)
	case *types.Slice:
		return invalid(t.Elem(), seen)
	case *types.Array:
		return invalid(t.Elem(), seen)
	case *types.Chan:
		return invalid(t.Elem(), seen)
	case *types.Map:
		return invalid(t.Key(), seen) || invalid(t.Elem(), seen)
	case *types.Signature:
		return invalid(t.Params(), seen) || invalid(t.Results(), seen)
	case *types.Tuple:
		var all []types.Type
		for v := range t.Variables() {
			all = append(all, v.Type())
		}
		return anyInvalid(all, seen)
	case *types.Struct:
		var all []types.Type
		for f := range t.Fields() {
			all = append(all, f.Type())
		}
		return anyInvalid(all, seen)
	default:
		return false
	}
}

func anyInvalid(list []types.Type, seen map[types.Type]bool) bool {
	return slices.ContainsFunc(list, func(t types.Type) bool { return invalid(t, seen) })
}
