package analyze

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/idemgen/idem/generator/internal/directive"
	"github.com/idemgen/idem/generator/internal/model"
)

// finals checks //idem:final. The types are nil for errors that are values.
func (x *expressions) finals(d directive.Directive) (finals []model.Final, typs []types.Type) {
	names := map[string]bool{}
	for _, e := range x.parse(d) {
		final, ok := x.final(e)
		if ok && names[final.Name] {
			x.report(e.list.position(e.node.Pos()), "a final error is recorded as %s already: leave one out", final.Name)
			continue
		}
		if ok {
			names[final.Name] = true
			finals = append(finals, final)
			var t types.Type
			if final.Type {
				t = e.info.Types[e.node].Type
			}
			typs = append(typs, t)
		}
	}
	return finals, typs
}

func (x *expressions) final(e *expression) (final model.Final, ok bool) {
	if !x.resolve(e) {
		return final, false
	}
	pos := e.list.position(e.node.Pos())
	tv := e.info.Types[e.node]
	if tv.Type == nil || !types.Implements(tv.Type, errorType.Underlying().(*types.Interface)) {
		x.report(pos, "%s is no error: name a package-level error value, or a type such as *DeclinedError", e.source)
		return final, false
	}
	final = model.Final{Name: types.TypeString(tv.Type, x.inName), Type: tv.IsType(), Expr: x.code(e)}
	if !final.Type {
		v := variable(e)
		if v == nil {
			x.report(pos, "%s is no package-level variable: a final error is one that the program can name again on a replay", e.source)
			return final, false
		}
		final.Name = strings.TrimPrefix(x.inName(v.Pkg())+"."+v.Name(), ".")
		return final, true
	}
	if types.IsInterface(tv.Type) {
		x.report(pos, "%s is an interface: name the error types that are outcomes", e.source)
		return final, false
	}
	if loss := x.fidelity(tv.Type); loss != nil {
		x.report(pos, "the error %s would come back changed from a replay: %s: %s: export the field, or give the type MarshalJSON and UnmarshalJSON",
			e.source, loss.path, loss.why)
		return final, false
	}
	return final, true
}

// variable returns the package-level variable that e names, nil if it is
// something else.
func variable(e *expression) *types.Var {
	node := ast.Unparen(e.node)
	if s, ok := node.(*ast.SelectorExpr); ok {
		node = s.Sel
	}
	id, ok := node.(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := e.info.Uses[id].(*types.Var)
	if !ok || v.Pkg() == nil || v.Parent() != v.Pkg().Scope() {
		return nil
	}
	return v
}

// inName qualifies what a final error is recorded as: by the real name of its
// package, whatever the file's imports are called.
func (x *expressions) inName(p *types.Package) string {
	if p == x.Types {
		return ""
	}
	return p.Name()
}

// question checks //idem:recover ask.
func (x *expressions) question(d directive.Directive, stored []types.Type) *model.Question {
	list := x.parse(d)
	if len(list) == 0 {
		return nil
	}
	e := list[0]
	pos := e.list.position(e.node.Pos())
	if len(list) > 1 {
		x.report(list[1].list.position(list[1].node.Pos()), "one function or method is asked: leave %s out", list[1].source)
		return nil
	}
	var question model.Question
	var sig *types.Signature
	if id, ok := e.node.(*ast.Ident); ok {
		obj, _, _ := types.LookupFieldOrMethod(x.member.owner.Type(), false, x.Types, id.Name)
		if m, ok := obj.(*types.Func); ok {
			question.Method, sig = m.Name(), m.Signature()
		}
	}
	if sig == nil {
		if !x.check(e) {
			return nil
		}
		s, ok := e.typ.Underlying().(*types.Signature)
		if !ok {
			x.report(pos, "%s is of type %s: name a function, or a method of %s", e.source, x.show(e.typ), x.member.owner.Name())
			return nil
		}
		question.Function, sig = x.code(e), s
	}
	if want := x.questionType(stored); !types.Identical(types.NewSignatureType(nil, nil, nil, sig.Params(), sig.Results(), sig.Variadic()), want) {
		x.report(pos, "%s is a %s: to be asked for %s it must be a %s", e.source, x.show(sig), x.member.fn.Name(), x.show(want))
		return nil
	}
	return &question
}

// questionType is the signature of the functions that can be asked.
func (x *expressions) questionType(stored []types.Type) *types.Signature {
	var results []*types.Var
	for _, t := range append(slices.Clone(stored), types.Typ[types.Bool], errorType) {
		results = append(results, types.NewParam(0, nil, "", t))
	}
	sig := x.member.fn.Signature()
	return types.NewSignatureType(nil, nil, nil, sig.Params(), types.NewTuple(results...), sig.Variadic())
}

// codec checks //idem:codec. A protobuf message that is the only result is
// recorded as one without being asked.
func (x *expressions) codec(stored []types.Type) model.Codec {
	d, ok := x.member.Directives["codec"]
	single := len(stored) == 1 && isMessage(stored[0])
	switch {
	case !ok && single:
		return x.proto()
	case !ok || d.Args == "json":
		return model.Codec{}
	case d.Args == "proto" && single:
		return x.proto()
	case d.Args == "proto":
		x.report(d.Arg, "the codec proto needs a method whose only result beside the error is a pointer to a protobuf message")
		return model.Codec{}
	}
	list := x.parse(d)
	if len(list) == 0 || !x.check(list[0]) {
		return model.Codec{}
	}
	e := list[0]
	if len(list) > 1 || len(x.uses(e)) > 0 || !isCodec(e.typ) {
		x.report(e.list.position(e.node.Pos()), "%s is no codec: write json, proto, or one value of the package with the methods of idem.Codec: "+
			"Name() string, Marshal(v any) ([]byte, error) and Unmarshal(data []byte, v any) error", e.source)
		return model.Codec{}
	}
	return model.Codec{Kind: model.Custom, Expr: x.code(e)}
}

const protoPath = "google.golang.org/protobuf/proto"

// proto is the codec for a message. Its package is one that the module has,
// because the message's own imports lead to it.
func (x *expressions) proto() model.Codec {
	x.member.speller.packages[protoPath] = model.Package{Name: "proto", Alias: x.member.speller.aliases[protoPath]}
	return model.Codec{Kind: model.Proto}
}

// isMessage reports whether t is a pointer to a protobuf message.
func isMessage(t types.Type) bool {
	if _, ok := types.Unalias(t).(*types.Pointer); !ok {
		return false
	}
	obj, _, _ := types.LookupFieldOrMethod(t, false, nil, "ProtoReflect")
	f, ok := obj.(*types.Func)
	return ok && f.Signature().Params().Len() == 0 && f.Signature().Results().Len() == 1 &&
		isNamed(f.Signature().Results().At(0).Type(), "google.golang.org/protobuf/reflect/protoreflect", "Message")
}

// isCodec reports whether t has the methods of idem.Codec.
func isCodec(t types.Type) bool {
	text, data, any := types.Typ[types.String], bytesType, types.Universe.Lookup("any").Type()
	for name, sig := range map[string][2][]types.Type{
		"Name":      {nil, {text}},
		"Marshal":   {{any}, textError},
		"Unmarshal": {{data, any}, justError},
	} {
		obj, _, _ := types.LookupFieldOrMethod(t, false, nil, name)
		f, ok := obj.(*types.Func)
		if !ok || !matches(f.Signature().Params(), sig[0]) || !matches(f.Signature().Results(), sig[1]) {
			return false
		}
	}
	return true
}
