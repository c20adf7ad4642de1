package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/idemgen/idem/generator/internal/model"
)

// copyResult prints the function that copies what the store keeps of a call,
// nil where the runtime needs none: values of basic types and no values at
// all are their own copies.
func (m *method) copyResult(fn *function) *jen.Statement {
	plans := m.src.Keyed.Copy
	if len(plans) == 0 || len(plans) == 1 && isBasic(&plans[0]) {
		return nil
	}
	if len(plans) == 1 {
		if c := newCopier(fn, &plans[0]); c.isFunction(&plans[0]) {
			return c.function(&plans[0])
		}
	}
	var param string
	body := fn.nested(func() []jen.Code {
		param = fn.local("v")
		if len(plans) == 1 {
			if copied := newCopier(fn, &plans[0]).copied(jen.Id(param), &plans[0]); copied != nil {
				return one(jen.Return(copied))
			}
		}
		var code []jen.Code
		for i := range plans {
			target := jen.Id(param)
			if len(plans) > 1 {
				target.Dot(m.fields[i])
			}
			code = append(code, newCopier(fn, &plans[i]).detach(target, &plans[i])...)
		}
		return append(code, jen.Return(jen.Id(param)))
	})
	return jen.Func().Params(jen.Id(param).Add(m.stored(fn))).Add(m.stored(fn)).Block(body...)
}

// isBasic reports whether the runtime copies values of p without being told.
func isBasic(p *model.Plan) bool {
	return p.Kind >= model.Bool && p.Kind <= model.String
}

// A copier prints statements that make a variable, which holds a shallow copy
// of a value, share nothing with the original any more.
type copier struct {
	fn    *function
	plans map[int]*model.Plan // where a Ref leads
}

func newCopier(fn *function, p *model.Plan) copier { return copier{fn: fn, plans: byID(p)} }

// shares reports whether assigning a value of p leaves something shared.
func shares(p *model.Plan) bool {
	switch p.Kind {
	case model.Bytes, model.Pointer, model.Slice, model.Map, model.Ref:
		return true
	case model.Array:
		return shares(p.Elem)
	case model.Struct:
		return slices.ContainsFunc(p.Fields, func(f model.FieldPlan) bool { return shares(&f.Plan) })
	default:
		return false
	}
}

// isFunction reports whether values of p are copied by a function of their own.
func (c copier) isFunction(p *model.Plan) bool {
	return typeName(p.Type) != "" && shares(p) && (p.Kind == model.Struct || p.ID != 0)
}

// function returns the function that copies values of p.
func (c copier) function(p *model.Plan) *jen.Statement {
	return c.fn.wrapper.file.helper(c.fn, "copy", p, func(fn *function, h *helper) *jen.Statement {
		fn.parameters(nil, nil)
		v := fn.local("v")
		inside := copier{fn: fn, plans: c.plans}
		body := append(inside.inline(jen.Id(v), p), jen.Return(jen.Id(v)))
		return comment(h.name + " returns a deep copy of " + v + ".").Line().
			Add(h.head(fn.wrapper)).
			Params(jen.Id(v).Add(fn.wrapper.code(p.Type))).Add(fn.wrapper.code(p.Type)).
			Block(body...)
	})
}

// detach prints the statements for the variable v.
func (c copier) detach(v *jen.Statement, p *model.Plan) []jen.Code {
	if !shares(p) {
		return nil
	}
	if copied := c.copied(v, p); copied != nil {
		return one(jen.Add(v).Op("=").Add(copied))
	}
	return c.inline(v, p)
}

// copied prints an expression for a copy of v, nil if it takes statements.
func (c copier) copied(v *jen.Statement, p *model.Plan) *jen.Statement {
	switch {
	case !shares(p):
		return v
	case p.Kind == model.Ref:
		return c.copied(v, c.plans[p.Ref])
	case c.isFunction(p):
		return c.function(p).Call(v)
	case p.Kind == model.Bytes, p.Kind == model.Slice && !shares(p.Elem):
		return c.fn.qualified("slices", "Clone").Call(v)
	case p.Kind == model.Map && !shares(p.Elem):
		return c.fn.qualified("maps", "Clone").Call(v)
	default:
		return nil
	}
}

// inline prints statements that detach v member by member.
func (c copier) inline(v *jen.Statement, p *model.Plan) []jen.Code {
	switch p.Kind {
	case model.Struct:
		var code []jen.Code
		for i := range p.Fields {
			code = append(code, c.detach(jen.Add(v).Dot(p.Fields[i].Name), &p.Fields[i].Plan)...)
		}
		return code
	case model.Array:
		return one(c.elements(v, p))
	case model.Slice:
		// Clone keeps nil apart from empty.
		clone := c.fn.qualified("slices", "Clone").Call(v)
		return []jen.Code{jen.Add(v).Op("=").Add(clone), c.elements(v, p)}
	case model.Map:
		clone := c.fn.qualified("maps", "Clone").Call(v)
		return []jen.Code{jen.Add(v).Op("=").Add(clone), c.entries(v, p)}
	default:
		return one(c.target(v, p))
	}
}

func (c copier) elements(v *jen.Statement, p *model.Plan) *jen.Statement {
	var i string
	body := c.fn.nested(func() []jen.Code {
		i = c.fn.local("i")
		return c.detach(jen.Add(v).Index(jen.Id(i)), p.Elem)
	})
	return jen.For(jen.Id(i).Op(":=").Range().Add(v)).Block(body...)
}

func (c copier) entries(v *jen.Statement, p *model.Plan) *jen.Statement {
	var key, element string
	body := c.fn.nested(func() []jen.Code {
		key, element = c.fn.local("k"), c.fn.local("e")
		entry := jen.Add(v).Index(jen.Id(key)).Op("=")
		if copied := c.copied(jen.Id(element), p.Elem); copied != nil {
			return one(entry.Add(copied))
		}
		return append(c.inline(jen.Id(element), p.Elem), entry.Id(element))
	})
	return jen.For(jen.List(jen.Id(key), jen.Id(element)).Op(":=").Range().Add(v)).Block(body...)
}

func (c copier) target(v *jen.Statement, p *model.Plan) *jen.Statement {
	body := c.fn.nested(func() []jen.Code {
		target := c.fn.local("target")
		declare := jen.Id(target).Op(":=")
		replace := jen.Add(v).Op("=").Op("&").Id(target)
		if copied := c.copied(jen.Op("*").Add(v), p.Elem); copied != nil {
			return []jen.Code{declare.Add(copied), replace}
		}
		code := append(one(declare.Op("*").Add(v)), c.inline(jen.Id(target), p.Elem)...)
		return append(code, replace)
	})
	return jen.If(jen.Add(v).Op("!=").Add(c.fn.universe("nil"))).Block(body...)
}
