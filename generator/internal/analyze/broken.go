package analyze

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// hardErrors returns the type errors that do not come of what the load left
// out: without function bodies, most imports are not used.
func (c *checker) hardErrors() []types.Error {
	return slices.DeleteFunc(slices.Clone(c.Errors), func(e types.Error) bool {
		return e.Soft || strings.HasPrefix(e.Msg, "\t") // the latter continues the one before
	})
}

// placeOfError is where a type error is in the user's sources.
func (c *checker) placeOfError(e types.Error) token.Position {
	p := e.Fset.PositionFor(e.Pos, false)
	if !c.isSource(p.Filename) {
		p = e.Fset.Position(e.Pos)
	}
	return p
}

// errorsIn reports the type errors inside a declaration, and whether there are
// any. Others in its package are none of the generator's business.
func (c *checker) errorsIn(spec *ast.TypeSpec) bool {
	return c.errorsBetween(c.at(spec.Pos()), c.at(spec.End()))
}

func (c *checker) errorsBetween(start, end token.Position) bool {
	found := false
	for _, e := range c.hardErrors() {
		if p := c.placeOfError(e); p.Filename == start.Filename && start.Line <= p.Line && p.Line <= end.Line {
			c.report(p, "%s", oneLine(e.Msg))
			found = true
		}
	}
	return found
}

// unresolved reports a method with a type that is unknown, and whether there is
// one.
func (c *checker) unresolved(t *types.Interface, name token.Position) bool {
	for m := range t.Methods() {
		for v := range variables(m.Signature()) {
			if invalid(v.Type(), map[types.Type]bool{}) {
				c.report(name, "the method %s has a type that could not be resolved", m.Name())
				c.because(v)
				return true
			}
		}
	}
	return false
}

// whole reports arguments and results of an idempotent method that hold a value
// of an unknown type, however deep: what becomes of them cannot be known.
func (c *checker) whole(m *member) bool {
	for v := range variables(m.fn.Signature()) {
		if hole := unknownField(v.Type(), map[types.Type]bool{}); hole != nil {
			c.report(c.at(m.Name.Pos()), "the field %s inside %s of %s has a type that could not be resolved", hole.Name(), c.show(v.Type()), m.fn.Name())
			c.because(hole)
			return false
		}
	}
	return true
}

// because reports the type errors where v is declared or, if that is not where
// its type went wrong, all of the package.
func (c *checker) because(v *types.Var) {
	p := c.placeOfObject(v)
	at := token.Position{Filename: p.file, Line: p.line}
	if c.errorsBetween(at, at) {
		return
	}
	for _, e := range c.hardErrors() {
		c.report(c.placeOfError(e), "%s", oneLine(e.Msg))
	}
}

func variables(sig *types.Signature) func(yield func(*types.Var) bool) {
	return slices.Values(slices.Concat(slices.Collect(sig.Params().Variables()), slices.Collect(sig.Results().Variables())))
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

// unknownField finds a field that values of t hold, and whose type is unknown.
func unknownField(t types.Type, seen map[types.Type]bool) *types.Var {
	if seen[t] {
		return nil
	}
	seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return unknownField(u.Elem(), seen)
	case *types.Slice:
		return unknownField(u.Elem(), seen)
	case *types.Array:
		return unknownField(u.Elem(), seen)
	case *types.Map:
		return unknownField(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if invalid(f.Type(), map[types.Type]bool{}) {
				return f
			}
			if hole := unknownField(f.Type(), seen); hole != nil {
				return hole
			}
		}
	}
	return nil
}
