package emit

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/idemgen/idem/generator/internal/model"
)

// An encoder prints the statements that write a value to a builder.
type encoder struct {
	fn *function
	builder
	plans map[int]*model.Plan // where a Ref leads
}

// byID finds the plans to which a Ref inside p can lead.
func byID(p *model.Plan) map[int]*model.Plan {
	plans := map[int]*model.Plan{}
	var walk func(*model.Plan)
	walk = func(p *model.Plan) {
		if p == nil {
			return
		}
		if p.ID != 0 {
			plans[p.ID] = p
		}
		walk(p.Elem)
		walk(p.Key)
		for i := range p.Fields {
			walk(&p.Fields[i].Plan)
		}
	}
	walk(p)
	return plans
}

// leaves maps each leaf that one call writes to the builder's method and the
// type that it takes.
var leaves = map[model.PlanKind]struct{ method, takes string }{
	model.Bool:       {"Bool", "bool"},
	model.Int:        {"Int", "int64"},
	model.Uint:       {"Uint", "uint64"},
	model.Float32:    {"Float32", "float32"},
	model.Float64:    {"Float64", "float64"},
	model.Complex64:  {"Complex64", "complex64"},
	model.Complex128: {"Complex128", "complex128"},
	model.String:     {"String", "string"},
}

// write prints the statements that write v, of which p is the plan.
func (e *encoder) write(v value, p *model.Plan) []jen.Code {
	if leaf, ok := leaves[p.Kind]; ok {
		if p.Exact {
			return one(e.method(leaf.method, v.print()))
		}
		return one(e.method(leaf.method, e.fn.universe(leaf.takes).Call(v.print())))
	}
	switch p.Kind {
	case model.Bytes:
		switch {
		case p.Elem != nil:
			return one(e.method("Bytes", e.fn.qualified(runtimePath, "AsBytes").Call(v.print())))
		case p.Exact:
			return one(e.method("Bytes", v.print()))
		}
		return one(e.method("Bytes", jen.Index().Add(e.fn.universe("byte")).Parens(v.print())))
	case model.Time:
		if p.Exact {
			return one(e.method("Time", v.print()))
		}
		return one(e.method("Time", e.fn.qualified("time", "Time").Call(v.print())))
	case model.Reflect:
		return one(e.method("Reflect", v.print()))
	case model.Ref:
		return e.write(v, e.plans[p.Ref])
	}

	// Everything else names the value more than once, or needs its address.
	var code []jen.Code
	needsAddress := p.Kind == model.Identifier || p.Kind == model.TextAddress || p.NoCopy
	needsVariable := v.pointer && (p.Kind == model.Slice || p.Kind == model.Map || p.Kind == model.Pointer)
	if named := e.isFunction(p); e.mentions(p) && (!named && !v.simple || needsVariable || needsAddress && !v.addressable && !v.pointer) {
		name := e.fn.local(v.name)
		code = append(code, jen.Id(name).Op(":=").Add(v.print()))
		v = variable(name)
	}
	return append(code, e.compound(v, p)...)
}

func one(s *jen.Statement) []jen.Code { return []jen.Code{s} }

// isFunction reports whether values of p are written by a function of their own.
func (e *encoder) isFunction(p *model.Plan) bool {
	return typeName(p.Type) != "" && (p.Kind == model.Struct || p.ID != 0)
}

// mentions reports whether writing a value of p names it at all: there is
// nothing to say of a struct without fields.
func (e *encoder) mentions(p *model.Plan) bool {
	return p.Kind != model.Struct || e.isFunction(p) ||
		slices.ContainsFunc(p.Fields, func(f model.FieldPlan) bool { return e.mentions(&f.Plan) })
}

// compound writes what takes several statements or several uses of v.
func (e *encoder) compound(v value, p *model.Plan) []jen.Code {
	if e.isFunction(p) {
		arg := v.print()
		if p.NoCopy {
			if arg = v.code; !v.pointer {
				arg = jen.Op("&").Add(v.code)
			}
		}
		return one(e.fn.wrapper.file.encodeFunction(e, p).Call(e.address(), arg))
	}
	return e.inline(v, p)
}

// inline writes a compound value where it stands.
func (e *encoder) inline(v value, p *model.Plan) []jen.Code {
	switch p.Kind {
	case model.Identifier:
		all := jen.Add(v.code).Index(jen.Op(":"))
		if p.Elem != nil {
			all = e.fn.qualified(runtimePath, "AsBytes").Call(all)
		}
		return one(e.method("ID", all))
	case model.AppendText:
		return e.unlessZero(v, p, e.method("Text", jen.Add(v.code).Dot("AppendText").Call(e.method("Buffer"))))
	case model.MarshalText, model.TextAddress:
		return e.unlessZero(v, p, e.method("Text", jen.Add(v.code).Dot("MarshalText").Call()))
	case model.Pointer:
		return e.writePointer(v, p)
	case model.Struct:
		return e.composite("Open", v, p, e.members(v, p))
	case model.Array:
		return e.composite("Open", v, p, e.elements(v, p, !e.key))
	case model.Slice:
		return e.composite("OpenList", v, p, e.elements(v, p, false))
	default:
		return e.composite("OpenMap", v, p, e.entries(v, p))
	}
}

// unlessZero leaves a zero value out of a fingerprint, where its text need not
// be empty.
func (e *encoder) unlessZero(v value, p *model.Plan, write *jen.Statement) []jen.Code {
	if e.key || !p.Zero {
		return one(write)
	}
	isZero := e.fn.qualified(runtimePath, "IsZero").Call(v.print())
	if p.NoCopy {
		// Passing the value would copy its lock.
		isZero = jen.Add(v.print()).Op("==").Parens(e.fn.code(p.Type).Values())
	}
	return one(jen.If(isZero).Block(e.method("Zero")).Else().Block(write))
}

func (e *encoder) writePointer(v value, p *model.Plan) []jen.Code {
	target := e.fn.nested(func() []jen.Code {
		var code []jen.Code
		if !e.key {
			code = append(code, e.method("Pointer"))
		}
		return append(code, e.write(value{code: v.code, name: "target", pointer: true, simple: true, addressable: true}, p.Elem)...)
	})
	return one(jen.If(jen.Add(v.code).Op("==").Add(e.fn.universe("nil"))).
		Block(e.method("Nil")).Else().Block(target...))
}

// composite surrounds members by the calls that open and close it. The builder
// tells when the value is too deep or too large to go on, which a key's can be
// only if its type is recursive.
func (e *encoder) composite(open string, v value, p *model.Plan, members []jen.Code) []jen.Code {
	if e.key {
		open = "Open"
	}
	if e.key && p.ID == 0 {
		code := append(one(e.method("Open")), members...)
		return append(code, e.method("Close"))
	}
	head := e.method(open)
	if open != "Open" {
		head = e.method(open, e.fn.universe("len").Call(v.code))
	}
	return one(jen.If(head).Block(append(members, e.method("Close"))...))
}

// members writes the fields of a struct: to a key as they stand, to a
// fingerprint by their names, so that their order in the source means nothing.
func (e *encoder) members(v value, p *model.Plan) []jen.Code {
	fields := p.Fields
	if !e.key {
		fields = slices.SortedFunc(slices.Values(fields), func(a, b model.FieldPlan) int { return strings.Compare(a.Name, b.Name) })
	}
	var code []jen.Code
	for i := range fields {
		f := &fields[i]
		if !e.key {
			code = append(code, e.method("Field", jen.Lit(f.Name)))
		}
		code = append(code, e.write(v.member(f.Name), &f.Plan)...)
	}
	return code
}

// elements writes the elements of a slice or an array.
func (e *encoder) elements(v value, p *model.Plan, numbered bool) []jen.Code {
	head := jen.Range()
	body := e.fn.nested(func() []jen.Code {
		var code []jen.Code
		index := "_"
		if numbered || p.Elem.NoCopy {
			index = e.fn.local("i")
			head = jen.Id(index).Op(":=").Range()
		}
		if numbered {
			code = append(code, e.method("Index", jen.Id(index)))
		}
		if p.Elem.NoCopy || !e.mentions(p.Elem) {
			element := value{code: jen.Add(v.code).Index(jen.Id(index)), simple: true, addressable: true}
			return append(code, e.write(element, p.Elem)...)
		}
		name := e.fn.local("e")
		head = jen.List(jen.Id(index), jen.Id(name)).Op(":=").Range()
		return append(code, e.write(variable(name), p.Elem)...)
	})
	return one(jen.For(head.Add(v.code)).Block(body...))
}

// entries writes the entries of a map in the order of its keys.
func (e *encoder) entries(v value, p *model.Plan) []jen.Code {
	var key string
	body := e.fn.nested(func() []jen.Code {
		key = e.fn.local("k")
		code := append(e.write(variable(key), p.Key), e.method("MapValue"))
		return append(code, e.write(value{code: jen.Add(v.code).Index(jen.Id(key)), name: "e"}, p.Elem)...)
	})
	return one(jen.For(jen.List(jen.Id("_"), jen.Id(key)).Op(":=").Range().
		Add(e.fn.qualified(runtimePath, "SortedKeys").Call(v.code))).Block(body...))
}
