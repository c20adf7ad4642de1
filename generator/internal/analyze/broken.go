package analyze

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
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
	for e := range c.errorsAt(start.Filename, start.Line, end.Line) {
		c.report(c.placeOfError(e), "%s", oneLine(e.Msg))
		found = true
	}
	return found
}

func (c *checker) errorsAt(file string, from, to int) iter.Seq[types.Error] {
	return func(yield func(types.Error) bool) {
		for _, e := range c.hardErrors() {
			if p := c.placeOfError(e); p.Filename == file && from <= p.Line && p.Line <= to && !yield(e) {
				return
			}
		}
	}
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

// whole reports values of unknown types that an idempotent method takes or
// returns, however deep, and whether there is none.
//
// A wrapper that does not exist yet is an unknown type too. In an argument it
// is left out of the fingerprint, as it would be if it were known. A result
// that holds another unknown type is copied by decoding, which is right for
// every type; whether it is faithful is for the first run to say that knows it.
func (c *checker) whole(m *member) bool {
	for v := range m.fn.Signature().Params().Variables() {
		for _, hole := range unknownFields(v.Type()) {
			if !c.awaited(hole) {
				c.report(c.at(m.Name.Pos()), "the field %s inside %s of %s has a type that could not be resolved", hole.Name(), c.show(v.Type()), m.fn.Name())
				c.because(hole)
				return false
			}
		}
	}
	for v := range m.fn.Signature().Results().Variables() {
		for _, hole := range unknownFields(v.Type()) {
			if c.awaited(hole) {
				c.report(c.at(m.Name.Pos()), "the field %s inside %s of %s is a wrapper, which cannot be recorded: return what it wraps, or leave it out", hole.Name(), c.show(v.Type()), m.fn.Name())
				return false
			}
		}
	}
	return true
}

// awaited reports whether a field's type is unknown for want of a wrapper,
// which is made by this run or hidden from it. In another package, which
// compiles but for wrappers, it can be nothing else.
func (c *checker) awaited(field *types.Var) bool {
	if field.Pkg() != c.Types {
		return true
	}
	p := c.placeOfObject(field)
	found := false
	for e := range c.errorsAt(p.file, p.line, p.line) {
		name, undefined := strings.CutPrefix(e.Msg, "undefined: ")
		name = name[strings.LastIndex(name, ".")+1:]
		if !undefined || !strings.HasPrefix(name, "Idempotent") && !strings.HasPrefix(name, "idempotent") {
			return false
		}
		found = true
	}
	return found
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

// unknownFields finds the fields that values of t hold, and whose types are
// unknown.
func unknownFields(t types.Type) []*types.Var {
	var holes []*types.Var
	seen := map[types.Type]bool{}
	var visit func(types.Type)
	visit = func(t types.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			visit(u.Elem())
		case *types.Slice:
			visit(u.Elem())
		case *types.Array:
			visit(u.Elem())
		case *types.Map:
			visit(u.Elem())
		case *types.Struct:
			for f := range u.Fields() {
				if invalid(f.Type(), map[types.Type]bool{}) {
					holes = append(holes, f)
				} else {
					visit(f.Type())
				}
			}
		}
	}
	visit(t)
	return holes
}
