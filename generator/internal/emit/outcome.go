package emit

import (
	"maps"

	"github.com/dave/jennifer/jen"

	"github.com/idemgen/idem/generator/internal/model"
)

// finals prints the list of the errors that are outcomes.
func (fn *function) finals(finals []model.Final) *jen.Statement {
	var list []jen.Code
	for _, f := range finals {
		if f.Type {
			list = append(list, fn.qualified(runtimePath, "FinalType").Types(fn.code(f.Expr)).Call(jen.Lit(f.Name)))
		} else {
			list = append(list, fn.qualified(runtimePath, "FinalError").Call(jen.Lit(f.Name), fn.code(f.Expr)))
		}
	}
	return jen.Index().Add(fn.qualified(runtimePath, "Final")).Add(literal(list))
}

// codec prints how results are recorded, nil for the runtime's own way.
func (m *method) codec(fn *function) *jen.Statement {
	switch c := m.src.Keyed.Codec; c.Kind {
	case model.Custom:
		return fn.code(c.Expr)
	case model.Proto:
		return m.wrapper.file.protoCodec(fn).Types(m.stored(fn)).Call()
	default:
		return nil
	}
}

const protoPath = "google.golang.org/protobuf/proto"

// protoCodec returns the function that makes a codec for a type of messages.
func (f *file) protoCodec(from *function) *jen.Statement {
	return f.helper(from, "protoCodec", &model.Plan{}, func(fn *function, h *helper) *jen.Statement {
		fn.parameters(nil, nil)
		message, v, data, m := fn.local("M"), fn.local("v"), fn.local("data"), fn.local("m")
		bytes := func() *jen.Statement { return jen.Index().Add(fn.universe("byte")) }
		none := bytes().Values(jen.Lit(0))
		marshal := jen.Func().Params(jen.Id(v).Add(fn.universe("any"))).Params(bytes(), fn.universe("error")).Block(
			jen.Id(m).Op(":=").Op("*").Id(v).Assert(jen.Op("*").Id(message)),
			jen.If(jen.Op("!").Id(m).Dot("ProtoReflect").Call().Dot("IsValid").Call()).Block(jen.Return(none, fn.universe("nil"))),
			jen.Return(fn.qualified(protoPath, "MarshalOptions").Values(jen.Dict{jen.Id("Deterministic"): fn.universe("true")}).Dot("Marshal").Call(jen.Id(m))),
		)
		unmarshal := jen.Func().Params(jen.Id(data).Add(bytes()), jen.Id(v).Add(fn.universe("any"))).Add(fn.universe("error")).Block(
			jen.If(jen.Add(fn.universe("string")).Call(jen.Id(data)).Op("==").Lit("\x00")).Block(jen.Return(fn.universe("nil"))),
			jen.Id(m).Op(":=").Id(v).Assert(jen.Op("*").Id(message)),
			jen.Op("*").Id(m).Op("=").Parens(jen.Op("*").Id(m)).Dot("ProtoReflect").Call().Dot("New").Call().Dot("Interface").Call().Assert(jen.Id(message)),
			jen.Return(fn.qualified(protoPath, "Unmarshal").Call(jen.Id(data), jen.Op("*").Id(m))),
		)
		return comment(h.name + " records protobuf messages in their own encoding. A nil one is recorded").Line().
			Add(comment("as a zero byte, with which no message begins.")).Line().
			Func().Id(h.name).Types(jen.Id(message).Add(fn.qualified(protoPath, "Message"))).Params().Add(fn.qualified(runtimePath, "Codec")).
			Block(jen.Return(fn.qualified(runtimePath, "NewCodec").Call(jen.Lit("proto"), marshal, unmarshal)))
	})
}

// question prints the function that finds out whether an interrupted execution
// had its effect.
func (k *keyed) question() *jen.Statement {
	q := k.src.Keyed.Ask
	ask := jen.Id(k.receiver).Dot(k.wrapper.next).Dot(q.Method)
	if q.Method == "" {
		ask = k.fn.code(q.Function)
	}
	ask.Call(k.arguments(k.fn.params)...)
	stored := k.storedResults()
	results := jen.Params(k.stored(k.fn), k.fn.universe("bool"), k.fn.universe("error"))
	if len(stored) == 1 {
		return k.function(results, jen.Block(jen.Return(ask)))
	}
	inner := maps.Clone(k.inner)
	found, err := inner.fresh("found"), inner.fresh("err")
	if len(stored) == 0 {
		return k.function(results, jen.Block(
			jen.List(jen.Id(found), jen.Id(err)).Op(":=").Add(ask),
			jen.Return(jen.Struct().Values(), jen.Id(found), jen.Id(err))))
	}
	outcome := inner.fresh("results")
	named := jen.Params(jen.Id(outcome).Add(k.stored(k.fn)), jen.Id(found).Add(k.fn.universe("bool")), jen.Id(err).Add(k.fn.universe("error")))
	return k.function(named, jen.Block(
		jen.List(append(k.members(outcome), jen.Id(found), jen.Id(err))...).Op("=").Add(ask),
		jen.Return(jen.Id(outcome), jen.Id(found), jen.Id(err))))
}
