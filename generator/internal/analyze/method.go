package analyze

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/idemgen/idem/generator/internal/directive"
	"github.com/idemgen/idem/generator/internal/model"
)

// method makes the model of a method without its directives.
func (c *checker) method(s *speller, m *types.Func) model.Method {
	sig := m.Signature()
	out := model.Method{Name: m.Name(), Variadic: sig.Variadic()}
	for i := range sig.Params().Len() {
		v := sig.Params().At(i)
		t := v.Type()
		if sig.Variadic() && i == sig.Params().Len()-1 {
			t = t.(*types.Slice).Elem()
		}
		out.Params = append(out.Params, model.Parameter{Name: v.Name(), Type: s.typ(t)})
	}
	for v := range sig.Results().Variables() {
		out.Results = append(out.Results, model.Parameter{Name: v.Name(), Type: s.typ(v.Type())})
	}
	return out
}

// A member is an annotated method as a member of one interface, which may have
// inherited it.
type member struct {
	*annotation
	owner     *types.TypeName
	fn        *types.Func
	params    *types.TypeParamList // of the owner
	speller   *speller
	inherited bool
}

// keyed checks the directives of a method and makes their model.
func (c *checker) keyed(m *member) *model.Keyed {
	sig := m.fn.Signature()
	name := c.at(m.Name.Pos())
	out := &model.Keyed{
		Operation: c.operationName(m),
		Position:  model.Position{File: name.Filename, Line: name.Line, Column: name.Column},
		Context:   contextOf(sig),
	}
	if !c.whole(m) {
		return out
	}
	x := c.expressions(m)
	stored := c.results(m)
	out.Codec = x.codec(stored)
	out.Loses = c.faithful(m, stored, out.Codec)
	if out.Codec.Kind != model.Proto {
		out.Copy = c.copies(m, stored)
	}
	out.Parts = x.key()
	out.Fingerprint = x.fingerprint(out.Parts)

	if d, ok := m.Directives["ttl"]; ok {
		out.TTL, _ = directive.TTL(d.Args)
	}
	if d, ok := m.Directives["lease"]; ok {
		out.Lease = directive.Lease(d.Args)
	}
	if d, ok := m.Directives["pending"]; ok {
		out.Pending.Reject, out.Pending.Wait, _ = directive.Pending(d.Args)
	}
	if d, ok := m.Directives["recover"]; ok {
		if d.Args == "refuse" {
			out.Recover = model.Refuse
		}
		if ask, ok := d.Word("ask"); ok {
			out.Ask = x.question(ask, stored)
		}
	}
	var finals []types.Type
	if d, ok := m.Directives["final"]; ok {
		out.Final, finals = x.finals(d)
	}
	out.Shape = shapeOf(stored, out.Codec, finals)
	_, out.Optional = m.Directives["optional"]
	out.Tx = c.transactional(m, out.Context)
	return out
}

// operationName is the name that the directives give, or the one of the
// interface that declares the method. A generic interface stands for many, so
// that what inherits a method from one names it after itself.
func (c *checker) operationName(m *member) string {
	if d, ok := m.Directives["name"]; ok {
		c.named = append(c.named, operation{d.Args, m.Type.Name.Name + "." + m.fn.Name(), d.Pos})
		return d.Args
	}
	owner := m.owner.Name()
	if m.inherited && m.Type.TypeParams == nil && !isAlias(m.owner) {
		owner = m.Type.Name.Name
	}
	name := c.Path + "." + owner + "." + m.fn.Name()
	c.named = append(c.named, operation{name, owner + "." + m.fn.Name(), c.at(m.Name.Pos())})
	return name
}

func isAlias(o *types.TypeName) bool {
	_, ok := o.Type().(*types.Alias)
	return ok
}

// contextOf returns the index of the first parameter that is a context, or -1.
func contextOf(sig *types.Signature) int {
	return slices.IndexFunc(slices.Collect(sig.Params().Variables()), func(v *types.Var) bool { return isContext(v.Type()) })
}

func isContext(t types.Type) bool { return isNamed(t, "context", "Context") }

// results checks that a method can report an error and returns the types of its
// other results.
func (c *checker) results(m *member) []types.Type {
	results := slices.Collect(m.fn.Signature().Results().Variables())
	name := m.fn.Name()
	if len(results) == 0 {
		c.report(c.at(m.Name.Pos()), "%s has no results: an idempotent method must be able to report an error; add an error as its last result", name)
		return nil
	}
	places := c.resultPlaces(m.Field)
	last := len(results) - 1
	if t := results[last].Type(); !types.Identical(t, errorType) {
		c.report(places[last], "the last result of %s is %s: an idempotent method must be able to report an error; add an error as its last result", name, c.show(t))
	}
	var stored []types.Type
	for _, v := range results[:last] {
		stored = append(stored, v.Type())
	}
	return stored
}

// faithful checks that a replay brings the results back whole, and returns the
// losses that were accepted. For codecs other than encoding/json that is their
// affair.
func (c *checker) faithful(m *member, stored []types.Type, codec model.Codec) (accepted []string) {
	if codec.Kind != model.JSON || len(stored) == 0 {
		return nil
	}
	places := c.resultPlaces(m.Field)
	_, lossy := m.Directives["lossy"]
	for i, t := range stored {
		switch loss := c.fidelity(t); {
		case loss == nil:
		case loss.fatal || !lossy:
			c.report(places[i], "%s", loss.explain(m.fn.Name(), i+1, c.show(t)))
		default:
			accepted = append(accepted, loss.path+": "+loss.why)
		}
	}
	return accepted
}

// resultPlaces returns where the type of each result is written.
func (c *checker) resultPlaces(field *ast.Field) []token.Position {
	var places []token.Position
	for _, group := range field.Type.(*ast.FuncType).Results.List {
		for range max(len(group.Names), 1) {
			places = append(places, c.at(group.Type.Pos()))
		}
	}
	return places
}

// show writes a type for a message, with the package's own names as they are.
func (c *checker) show(t types.Type) string {
	return types.TypeString(t, types.RelativeTo(c.Types))
}
