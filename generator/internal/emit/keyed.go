package emit

import (
	"maps"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/idemgen/idem/generator/internal/model"
)

// keyed prints the body of a method that runs once per key.
type keyed struct {
	*method
	fn       *function
	receiver string
	results  []string // names, empty or blank where there are none
	inner    names    // what the executor must not hide: it may hide results

	err      string // variable that holds an error, "" if none was named yet
	declared bool   // whether it can be assigned to
}

func (k *keyed) body() []jen.Code {
	src := k.src.Keyed
	key := k.fn.local("key")
	body := []jen.Code{jen.Var().Id(key).Add(k.fn.qualified(runtimePath, "KeyBuilder"))}
	for i, part := range src.Parts {
		body = append(body, k.part(key, i, part)...)
	}
	fingerprint := k.fn.universe("nil")
	if len(src.Fingerprint) > 0 {
		fp := k.fn.local("fp")
		body = append(body, jen.Var().Id(fp).Add(k.fn.qualified(runtimePath, "FingerprintBuilder")))
		for i, arg := range src.Fingerprint {
			body = append(body, k.argument(fp, i, arg)...)
		}
		fingerprint = jen.Op("&").Id(fp)
	}
	return append(body, k.run(jen.Op("&").Id(key), fingerprint)...)
}

// part writes one part to the key. One that can fail ends the call.
func (k *keyed) part(key string, i int, part model.Part) []jen.Code {
	e := &encoder{fn: k.fn, builder: builder{key: true, name: key}, plans: byID(&part.Plan)}
	x := expression(k.fn, part.Expr, "part"+strconv.Itoa(i+1))
	if !part.Error {
		return e.write(x, &part.Plan)
	}
	local := k.fn.local(x.name)
	k.nameError()
	k.declared = true
	var zeros []jen.Code
	for i := range k.storedResults() {
		zeros = append(zeros, jen.Id(k.results[i]))
	}
	code := []jen.Code{
		jen.List(jen.Id(local), jen.Id(k.err)).Op(":=").Add(x.code),
		jen.If(jen.Id(k.err).Op("!=").Add(k.fn.universe("nil"))).Block(jen.Return(append(zeros, jen.Id(k.err))...)),
	}
	if !e.mentions(&part.Plan) {
		code = append(code, jen.Id("_").Op("=").Id(local))
	}
	return append(code, e.write(variable(local), &part.Plan)...)
}

// argument writes one argument to the fingerprint.
func (k *keyed) argument(fp string, i int, arg model.Argument) []jen.Code {
	e := &encoder{fn: k.fn, builder: builder{name: fp}, plans: byID(&arg.Plan)}
	code := []jen.Code{jen.Id(fp).Dot("Arg").Call(jen.Lit(i))}
	x := expression(k.fn, arg.Expr, "value"+strconv.Itoa(i+1))
	return append(code, e.write(x, &arg.Plan)...)
}

// nameError names the variable that holds an error.
func (k *keyed) nameError() {
	if k.err == "" {
		k.err = k.fn.local("err")
	}
}

// run prints the call of the runtime, and what is returned of it.
func (k *keyed) run(key, fingerprint *jen.Statement) []jen.Code {
	executor := func(results, body jen.Code) *jen.Statement {
		ctx := k.fn.qualified("context", "Background").Call()
		if i := k.src.Keyed.Context; i >= 0 {
			ctx = jen.Id(k.fn.params[i])
		}
		run := jen.Id(k.receiver).Dot(k.field)
		if k.src.Keyed.Ask != nil {
			return run.Dot("RunAsking").Call(ctx, key, fingerprint, k.function(results, body), k.question())
		}
		return run.Dot("Run").Call(ctx, key, fingerprint, k.function(results, body))
	}
	call := k.call(k.receiver, k.fn.params)
	errType := k.fn.universe("error")

	switch len(k.storedResults()) {
	case 0:
		k.nameError()
		assign := ":="
		if k.declared {
			assign = "="
		}
		return []jen.Code{
			jen.List(jen.Id("_"), jen.Id(k.err)).Op(assign).Add(executor(
				jen.Params(jen.Struct(), errType),
				jen.Block(jen.Return(jen.Struct().Values(), call)))),
			jen.Return(jen.Id(k.err)),
		}
	case 1:
		return []jen.Code{jen.Return(executor(
			jen.Params(k.stored(k.fn), errType),
			jen.Block(jen.Return(call))))}
	}
	inner := maps.Clone(k.inner)
	results, err := inner.fresh("results"), inner.fresh("err")
	inside := executor(
		jen.Params(jen.Id(results).Add(k.stored(k.fn)), jen.Id(err).Add(errType)),
		jen.Block(
			jen.List(append(k.members(results), jen.Id(err))...).Op("=").Add(call),
			jen.Return(jen.Id(results), jen.Id(err))))
	outcome := k.fn.local("results")
	k.nameError()
	return []jen.Code{
		jen.List(jen.Id(outcome), jen.Id(k.err)).Op(":=").Add(inside),
		jen.Return(append(k.members(outcome), jen.Id(k.err))...),
	}
}

// function prints a function that the runtime calls. Its context hides the
// caller's under the same name.
func (k *keyed) function(results, body jen.Code) *jen.Statement {
	param := k.fn.qualified("context", "Context")
	if i := k.src.Keyed.Context; i >= 0 {
		param = jen.Id(k.fn.params[i]).Add(param)
	}
	return jen.Func().Params(param).Add(results).Add(body)
}

// members prints the fields of a struct of several results.
func (k *keyed) members(of string) []jen.Code {
	var list []jen.Code
	for _, field := range k.fields {
		list = append(list, jen.Id(of).Dot(field))
	}
	return list
}
