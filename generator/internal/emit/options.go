package emit

import (
	"time"

	"github.com/dave/jennifer/jen"

	"github.com/idemgen/idem/generator/internal/model"
)

// options prints the construction of the method's field.
func (m *method) options(fn *function, store string) *jen.Statement {
	k := m.src.Keyed
	operation := jen.Lit(k.Operation)
	if params := m.wrapper.typeParams; len(params) > 0 {
		operation = jen.Lit(k.Operation + "[")
		for i, p := range params {
			if i > 0 {
				operation.Op("+").Lit(",")
			}
			operation.Op("+").Add(fn.qualified(runtimePath, "TypeName")).Types(jen.Id(p)).Call()
		}
		operation.Op("+").Lit("]")
	}
	members := []jen.Code{field("Operation", operation)}
	add := func(name string, value jen.Code) { members = append(members, field(name, value)) }
	var parts, arguments []string
	for _, p := range k.Parts {
		parts = append(parts, p.Source)
	}
	for _, a := range k.Fingerprint {
		arguments = append(arguments, a.Name)
	}
	if len(parts) > 0 {
		add("Parts", fn.stringList(parts))
	}
	if len(arguments) > 0 {
		add("Arguments", fn.stringList(arguments))
	}
	if k.TTL != 0 {
		add("TTL", fn.duration(k.TTL))
	}
	if k.Lease != 0 {
		add("Lease", fn.duration(k.Lease))
	}
	if k.Pending.Reject {
		add("Reject", fn.universe("true"))
	}
	if k.Pending.Wait != 0 {
		add("MaxWait", fn.duration(k.Pending.Wait))
	}
	if k.Recover == model.Refuse {
		add("Refuse", fn.universe("true"))
	}
	if k.Optional {
		add("Optional", fn.universe("true"))
	}
	if k.Tx {
		add("Tx", fn.universe("true"))
	}
	if len(k.Final) > 0 {
		add("Final", fn.finals(k.Final))
	}
	if c := m.codec(fn); c != nil {
		add("Codec", c)
	}
	if k.Copy != nil {
		if c := m.copyResult(fn); c != nil {
			add("Copy", c)
		}
	}
	return fn.qualified(runtimePath, "NewMethod").
		Call(jen.Id(store), fn.qualified(runtimePath, "MethodOptions").Types(m.stored(fn)).Add(literal(members)))
}

func (fn *function) stringList(items []string) *jen.Statement {
	const wide = 80
	var list []jen.Code
	width := 0
	for _, item := range items {
		list = append(list, jen.Lit(item))
		width += len(item)
	}
	s := jen.Index().Add(fn.universe("string"))
	if width > wide {
		return s.Add(literal(list))
	}
	return s.Values(list...)
}

// duration prints d in the largest unit of which it is a multiple.
func (fn *function) duration(d time.Duration) *jen.Statement {
	const forever = 1<<63 - 1
	if d == forever {
		return fn.qualified(runtimePath, "Forever")
	}
	unit, name := time.Nanosecond, "Nanosecond"
	for _, u := range []struct {
		d    time.Duration
		name string
	}{{time.Microsecond, "Microsecond"}, {time.Millisecond, "Millisecond"}, {time.Second, "Second"}, {time.Minute, "Minute"}, {time.Hour, "Hour"}} {
		if d%u.d == 0 {
			unit, name = u.d, u.name
		}
	}
	s := fn.qualified("time", name)
	if n := int(d / unit); n != 1 {
		return jen.Lit(n).Op("*").Add(s)
	}
	return s
}
