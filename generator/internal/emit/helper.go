package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/idemgen/idem/generator/internal/model"
)

// A helperKey identifies a function that encodes or copies values of a type.
type helperKey struct {
	purpose string
	typ     string
	wrapper *wrapper // nil unless the type mentions type parameters
}

// A helper is such a function. Those of a generic type have all the type
// parameters of their interface, which settles that its constraints hold.
type helper struct {
	name    string
	generic bool
}

// helper returns the function for a purpose and a type, and asks for its
// declaration if there is none yet. It is named after the interface that asks
// first, which keeps the functions of two files apart.
func (f *file) helper(from *function, purpose string, p *model.Plan, declare func(fn *function, h *helper) *jen.Statement) *jen.Statement {
	w := from.wrapper
	key := helperKey{purpose: purpose, typ: fmt.Sprint(p.Type)}
	isGeneric := generic(p.Type)
	if isGeneric {
		key.wrapper = w
	}
	h := f.helpers[key]
	if h == nil {
		h = &helper{generic: isGeneric}
		h.name = f.declared.fresh(purpose + upperFirst(w.src.Name) + upperFirst(typeName(p.Type)))
		f.helpers[key] = h
		f.functions = append(f.functions, newFunction(w, func(fn *function) *jen.Statement { return declare(fn, h) }))
	}
	name := from.universe(h.name)
	if isGeneric {
		name.Add(w.typeArguments())
	}
	return name
}

// head prints the beginning of a helper's declaration.
func (h *helper) head(w *wrapper) *jen.Statement {
	s := jen.Func().Id(h.name)
	if h.generic {
		s.Add(w.typeParameters())
	}
	return s
}

// encodeFunction returns the function that writes values of p.
func (f *file) encodeFunction(from *encoder, p *model.Plan) *jen.Statement {
	purpose, name, typ := "fingerprint", "fp", "FingerprintBuilder"
	if from.key {
		purpose, name, typ = "appendKey", "key", "KeyBuilder"
	}
	return f.helper(from.fn, purpose, p, func(fn *function, h *helper) *jen.Statement {
		fn.parameters(nil, nil)
		b := builder{key: from.key, name: fn.local(name), pointer: true}
		v := variable(fn.local("v"))
		v.pointer = p.NoCopy
		param := jen.Add(v.code)
		if p.NoCopy {
			param.Op("*")
		}
		e := &encoder{fn: fn, builder: b, plans: from.plans}
		body := e.inline(v, p)
		if p.Kind == model.Struct && (!e.key || p.ID != 0) {
			body = append([]jen.Code{jen.If(jen.Op("!").Add(b.method("Open"))).Block(jen.Return())}, e.members(v, p)...)
			body = append(body, b.method("Close"))
		}
		return comment(h.name+" writes v to "+b.name+".").Line().
			Add(h.head(fn.wrapper)).
			Params(jen.Id(b.name).Op("*").Add(fn.wrapper.qualified(runtimePath, typ)), param.Add(fn.wrapper.code(p.Type))).
			Block(body...)
	})
}
