package analyze

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/idemgen/idem/generator/internal/model"
)

// key checks //idem:key.
func (x *expressions) key() []model.Part {
	d := x.member.Directives["key"]
	list := x.parse(d)
	var parts []model.Part
	depends, sound := false, len(list) > 0
	for _, e := range list {
		if !x.check(e) || !x.stable(e) {
			sound = false
			continue
		}
		depends = depends || len(x.uses(e)) > 0
		part := model.Part{Source: e.source}
		t, ok := x.single(e)
		if !ok {
			sound = false
			continue
		}
		part.Error = t != e.typ
		p := planner{checker: x.checker, speller: x.member.speller, key: true}
		plan, problem := p.plan(t)
		if problem != nil {
			x.report(e.list.position(e.node.Pos()), "%s of type %s cannot be part of a key: %s", e.source, x.show(t), problem)
			sound = false
			continue
		}
		part.Expr, part.Plan = x.code(e), *plan
		parts = append(parts, part)
	}
	if sound && !depends {
		x.report(list[0].list.position(list[0].node.Pos()),
			"the key of %s depends on no parameter, so that every call would be the same call: name what tells calls apart", x.member.fn.Name())
	}
	return parts
}

// single returns the type of a part's value. A call that returns an error too
// is taken where it reads the context: what looks at nothing but arguments
// should be a plain function of them.
func (x *expressions) single(e *expression) (types.Type, bool) {
	tuple, ok := e.typ.(*types.Tuple)
	if !ok {
		return e.typ, true
	}
	if tuple.Len() == 2 && types.Identical(tuple.At(1).Type(), errorType) {
		if slices.ContainsFunc(x.uses(e), func(i int) bool { return isContext(x.vars[i].Type()) }) {
			return tuple.At(0).Type(), true
		}
		x.report(e.list.position(e.node.Pos()), "%s has 2 values: a key part has one, or one and an error if it reads the context", e.source)
		return nil, false
	}
	x.report(e.list.position(e.node.Pos()), "%s has %d values: a key part has one", e.source, tuple.Len())
	return nil, false
}

// stable reports calls of functions that are known to give another value each
// time.
func (x *expressions) stable(e *expression) bool {
	ok := true
	ast.Inspect(e.node, func(n ast.Node) bool {
		id, isIdent := n.(*ast.Ident)
		if !isIdent {
			return true
		}
		f, isFunc := e.info.Uses[id].(*types.Func)
		if !isFunc || f.Pkg() == nil || !isUnstable(f) {
			return true
		}
		x.report(e.list.position(id.Pos()), "%s.%s gives another value on every call, so that no retry would find its key: "+
			"use something that the caller repeats, such as an id in the request", f.Pkg().Path(), f.Name())
		ok = false
		return true
	})
	return ok
}

// unstable lists functions that give another value on every call, by package;
// "*" stands for all functions of a package. Methods count where their
// receiver's package is listed so.
var unstable = map[string][]string{
	"time":                       {"Now", "Since", "Until"},
	"math/rand":                  {"*"},
	"math/rand/v2":               {"*"},
	"crypto/rand":                {"*"},
	"os":                         {"Getpid", "Getppid", "Hostname", "TempDir", "MkdirTemp", "CreateTemp"},
	"hash/maphash":               {"*"},
	"runtime":                    {"NumGoroutine"},
	"github.com/google/uuid":     {"New", "NewString", "NewRandom", "NewRandomFromReader", "NewUUID", "NewV6", "NewV7", "NewV7FromReader", "NewDCEGroup", "NewDCEPerson", "NewDCESecurity"},
	"github.com/gofrs/uuid":      {"NewV1", "NewV4", "NewV6", "NewV7"},
	"github.com/gofrs/uuid/v5":   {"NewV1", "NewV4", "NewV6", "NewV7"},
	"github.com/rs/xid":          {"New", "NewWithTime"},
	"github.com/oklog/ulid/v2":   {"Make", "Now", "DefaultEntropy"},
	"github.com/segmentio/ksuid": {"New", "NewRandom"},
}

func isUnstable(f *types.Func) bool {
	names := unstable[f.Pkg().Path()]
	if slices.Equal(names, []string{"*"}) {
		return true
	}
	return f.Signature().Recv() == nil && slices.Contains(names, f.Name())
}

// fingerprint checks //idem:fingerprint.
func (x *expressions) fingerprint(parts []model.Part) []model.Argument {
	d, ok := x.member.Directives["fingerprint"]
	switch {
	case !ok || d.Args == "all":
		return x.allArguments(parts)
	case d.Args == "none":
		return nil
	}
	var arguments []model.Argument
	for _, e := range x.parse(d) {
		if !x.check(e) || !x.stable(e) {
			continue
		}
		if _, several := e.typ.(*types.Tuple); several {
			x.report(e.list.position(e.node.Pos()), "%s has several values: a fingerprint covers one each", e.source)
			continue
		}
		p := planner{checker: x.checker, speller: x.member.speller}
		plan, problem := p.plan(e.typ)
		if problem != nil {
			x.report(e.list.position(e.node.Pos()), "%s of type %s cannot be part of a fingerprint: %s", e.source, x.show(e.typ), problem)
			continue
		}
		p.noteSkipped(x.member, e.source)
		arguments = append(arguments, model.Argument{Name: e.source, Expr: x.code(e), Plan: *plan})
	}
	return arguments
}

// allArguments covers every parameter that has a canonical encoding and that
// is not, as a whole, a part of the key: calls with one key agree on those.
func (x *expressions) allArguments(parts []model.Part) []model.Argument {
	var arguments []model.Argument
	for i, v := range x.vars {
		code := model.Code{{Kind: model.Param, Param: i}}
		if isContext(v.Type()) || slices.ContainsFunc(parts, func(p model.Part) bool { return slices.Equal(p.Expr, code) }) {
			continue
		}
		name := v.Name()
		if name == "" || name == "_" {
			name = x.show(v.Type())
		}
		p := planner{checker: x.checker, speller: x.member.speller}
		plan, problem := p.plan(v.Type())
		if problem != nil {
			x.note(x.at(x.member.Name.Pos()), "the fingerprint of %s leaves out %s: %s", x.member.fn.Name(), name, problem)
			continue
		}
		p.noteSkipped(x.member, name)
		arguments = append(arguments, model.Argument{Name: name, Expr: code, Plan: *plan})
	}
	return arguments
}
