package analyze

import (
	"go/types"
	"slices"

	"github.com/idemgen/idem/generator/internal/model"
)

// copies plans a deep copy of each stored result, nil if one of them cannot be
// copied here: then the runtime decodes instead.
func (c *checker) copies(m *member, stored []types.Type) []model.Plan {
	var plans []model.Plan
	for _, t := range stored {
		p := copyPlanner{checker: c, speller: m.speller, active: map[string]*model.Plan{}}
		plan, ok := p.plan(t)
		if !ok {
			return nil
		}
		plans = append(plans, *plan)
	}
	return plans
}

// A copyPlanner plans deep copies. It gives up where a value refers to
// something that this package cannot see.
type copyPlanner struct {
	*checker
	speller *speller
	active  map[string]*model.Plan
	lastID  int
}

func (p *copyPlanner) plan(t types.Type) (plan *model.Plan, ok bool) {
	plan = &model.Plan{Type: p.speller.typ(t), Kind: model.Assign}
	_, isParam := types.Unalias(t).(*types.TypeParam)
	if p.speller.fault() != "" || isParam || isLock(t) {
		return nil, false
	}
	if isImmutable(t) {
		return plan, true
	}
	if n, isNamed := types.Unalias(t).(*types.Named); isNamed {
		name := types.TypeString(n, nil)
		if outer := p.active[name]; outer != nil {
			if outer.ID == 0 {
				p.lastID++
				outer.ID = p.lastID
			}
			plan.Kind, plan.Ref = model.Ref, outer.ID
			return plan, true
		}
		p.active[name] = plan
		defer delete(p.active, name)
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if kind, ok := basicKinds[u.Kind()]; ok {
			plan.Kind = kind
		}
		return plan, u.Kind() != types.Invalid
	case *types.Slice:
		if isByte(u.Elem()) {
			plan.Kind = model.Bytes
			return plan, true
		}
		plan.Kind = model.Slice
		return plan, p.elem(plan, u.Elem())
	case *types.Array:
		plan.Kind, plan.Len = model.Array, u.Len()
		return plan, p.elem(plan, u.Elem())
	case *types.Pointer:
		plan.Kind = model.Pointer
		return plan, p.elem(plan, u.Elem())
	case *types.Map:
		plan.Kind = model.Map
		key, ok := p.plan(u.Key())
		if !ok || refers(key) {
			return nil, false
		}
		plan.Key = key
		return plan, p.elem(plan, u.Elem())
	case *types.Struct:
		plan.Kind = model.Struct
		return plan, p.fields(plan, u)
	default:
		return nil, false
	}
}

func (p *copyPlanner) elem(plan *model.Plan, t types.Type) (ok bool) {
	plan.Elem, ok = p.plan(t)
	return ok
}

func (p *copyPlanner) fields(plan *model.Plan, u *types.Struct) bool {
	for f := range u.Fields() {
		sub, ok := p.plan(f.Type())
		switch {
		case !ok:
			return false
		case f.Name() != "_" && isExported(f.Name(), f.Pkg(), p.Types):
			plan.Fields = append(plan.Fields, model.FieldPlan{Name: f.Name(), Plan: *sub})
		case refers(sub):
			return false
		}
	}
	return true
}

// refers reports whether assigning a value leaves something shared.
func refers(p *model.Plan) bool {
	switch p.Kind {
	case model.Bytes, model.Slice, model.Map, model.Pointer, model.Ref:
		return true
	case model.Array:
		return refers(p.Elem)
	case model.Struct:
		return slices.ContainsFunc(p.Fields, func(f model.FieldPlan) bool { return refers(&f.Plan) })
	default:
		return false
	}
}

// isImmutable reports whether values of t, though they hold pointers, never
// change what these lead to.
func isImmutable(t types.Type) bool {
	for _, name := range []struct{ path, name string }{
		{"time", "Time"}, {"net/netip", "Addr"}, {"net/netip", "AddrPort"}, {"net/netip", "Prefix"},
	} {
		if isNamed(t, name.path, name.name) {
			return true
		}
	}
	return false
}
