package analyze

import (
	"fmt"
	"go/types"

	"github.com/idemgen/idem/generator/internal/model"
)

// A planner plans how values of a type are written into a key, or into a
// fingerprint.
//
// A key tells apart all that its parts hold, so it takes a type whole or not at
// all, and does not follow pointers to structs, whose identity a reader would
// expect to count. A fingerprint follows pointers, and leaves out what has no
// canonical encoding.
type planner struct {
	*checker
	speller *speller
	key     bool

	path    string                 // of the value at hand, from the top
	active  map[string]*model.Plan // of the named types being planned, for recursion
	lastID  int
	skipped []string // paths that a fingerprint leaves out, and why
}

// noteSkipped notes what the fingerprint leaves out of an argument.
func (p *planner) noteSkipped(m *member, name string) {
	for _, s := range p.skipped {
		p.note(p.at(m.Name.Pos()), "the fingerprint of %s leaves out %s%s", m.fn.Name(), name, s)
	}
}

// problem says why a type cannot be written, and where in it.
func (p *planner) problem(format string, args ...any) error {
	why := fmt.Sprintf(format, args...)
	if p.path == "" {
		return fmt.Errorf("%s", why)
	}
	return fmt.Errorf("%s: %s", p.path, why)
}

var basicKinds = map[types.BasicKind]model.PlanKind{
	types.Bool: model.Bool,
	types.Int:  model.Int, types.Int8: model.Int, types.Int16: model.Int, types.Int32: model.Int, types.Int64: model.Int,
	types.Uint: model.Uint, types.Uint8: model.Uint, types.Uint16: model.Uint, types.Uint32: model.Uint, types.Uint64: model.Uint,
	types.Float32: model.Float32, types.Float64: model.Float64,
	types.Complex64: model.Complex64, types.Complex128: model.Complex128,
	types.String: model.String,
}

// exactKinds are the types that the writers take as they are.
var exactKinds = map[model.PlanKind]types.BasicKind{
	model.Bool: types.Bool, model.Int: types.Int64, model.Uint: types.Uint64,
	model.Float32: types.Float32, model.Float64: types.Float64,
	model.Complex64: types.Complex64, model.Complex128: types.Complex128, model.String: types.String,
}

// plan plans the values of t.
func (p *planner) plan(t types.Type) (*model.Plan, error) {
	plan := &model.Plan{Type: p.speller.typ(t)}
	if fault := p.speller.fault(); fault != "" {
		return nil, p.problem("%s", fault)
	}
	switch kind := textKind(t); {
	case kind != 0:
		plan.Kind, plan.Zero = kind, types.Comparable(t) && !hasInterface(t)
		plan.NoCopy = isLock(t)
		return plan, nil
	case isTime(t):
		plan.Kind, plan.Exact = model.Time, isNamed(t, "time", "Time")
		return plan, nil
	case isContext(t):
		return nil, p.problem("a context is not a value")
	}
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		plan.Kind = model.Reflect
		return plan, nil
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		// Instances of one generic type need not be one object.
		name := types.TypeString(n, nil)
		if outer := p.active[name]; outer != nil {
			if outer.ID == 0 {
				p.lastID++
				outer.ID = p.lastID
			}
			plan.Kind, plan.Ref = model.Ref, outer.ID
			return plan, nil
		}
		if p.active == nil {
			p.active = map[string]*model.Plan{}
		}
		p.active[name] = plan
		defer delete(p.active, name)
		if o := n.Obj(); p.key && o.Pkg() != nil && (o.Pkg().Path() == "sync" || o.Pkg().Path() == "sync/atomic") {
			return nil, p.problem("it is a %s, which must not be copied; call a method that returns its value", o.Pkg().Path()+"."+o.Name())
		}
	}
	return plan, p.structure(plan, t)
}

// structure completes the plan of a type without a text form.
func (p *planner) structure(plan *model.Plan, t types.Type) error {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		kind, ok := basicKinds[u.Kind()]
		switch {
		case u.Kind() == types.Invalid:
			return p.problem("its type could not be resolved")
		case !ok:
			return p.problem("an address differs between processes")
		}
		plan.Kind, plan.Exact = kind, exactly(t, exactKinds[kind])
		return nil
	case *types.Slice:
		if isByte(u.Elem()) {
			plan.Kind, plan.Exact = model.Bytes, exactly(u.Elem(), types.Uint8) && types.Identical(t, u)
			p.namedBytes(plan, u.Elem())
			return nil
		}
		plan.Kind = model.Slice
		return p.elem(plan, "[]", u.Elem())
	case *types.Array:
		plan.Len = u.Len()
		if isByte(u.Elem()) {
			plan.Kind = model.Identifier
			p.namedBytes(plan, u.Elem())
			return nil
		}
		plan.Kind = model.Array
		err := p.elem(plan, "[]", u.Elem())
		plan.NoCopy = err == nil && plan.Elem.NoCopy
		return err
	case *types.Pointer:
		return p.pointer(plan, u)
	case *types.Struct:
		return p.fields(plan, t, u)
	case *types.Map:
		return p.mapping(plan, u)
	case *types.Chan:
		return p.problem("channels cannot be encoded")
	case *types.Signature:
		return p.problem("functions cannot be encoded")
	case *types.Interface:
		return p.problem("an interface can hold any dynamic type; assert or convert it first")
	default:
		return p.problem("%s cannot be encoded", p.show(t))
	}
}

// inside runs f for a place inside the value.
func (p *planner) inside(step string, f func() error) error {
	before := p.path
	p.path += step
	defer func() { p.path = before }()
	return f()
}

func (p *planner) elem(plan *model.Plan, step string, t types.Type) error {
	return p.inside(step, func() (err error) {
		plan.Elem, err = p.plan(t)
		return err
	})
}

func (p *planner) pointer(plan *model.Plan, u *types.Pointer) error {
	if p.key && textKind(u.Elem()) == 0 && !isTime(u.Elem()) {
		switch e := u.Elem().Underlying().(type) {
		case *types.Basic:
		case *types.Array:
			if !isByte(e.Elem()) {
				return p.problem("a pointer's identity is not stable; use *x, a field or a method of it")
			}
		default:
			return p.problem("a pointer's identity is not stable; use *x, a field or a method of it")
		}
	}
	if leadsNowhere(u) {
		return p.problem("it leads to pointers only")
	}
	plan.Kind = model.Pointer
	return p.elem(plan, "", u.Elem())
}

// leadsNowhere reports whether a pointer's type leads to pointers without end.
func leadsNowhere(t types.Type) bool {
	seen := map[types.Type]bool{}
	for !seen[t] {
		p, ok := t.Underlying().(*types.Pointer)
		if !ok {
			return false
		}
		seen[t] = true
		t = types.Unalias(p.Elem())
	}
	return true
}

func (p *planner) fields(plan *model.Plan, t types.Type, u *types.Struct) error {
	plan.Kind = model.Struct
	for f := range u.Fields() {
		plan.NoCopy = plan.NoCopy || isLock(f.Type())
	}
	for _, f := range p.reachable(t, u) {
		err := p.inside("."+f.Name(), func() error {
			if !isExported(f.Name(), f.Pkg(), p.Types) {
				return p.problem("the field is not exported by %s", f.Pkg().Path())
			}
			sub, err := p.plan(f.Type())
			if err == nil {
				plan.NoCopy = plan.NoCopy || sub.NoCopy
				plan.Fields = append(plan.Fields, model.FieldPlan{Name: f.Name(), Plan: *sub})
			}
			return err
		})
		if err != nil && p.key {
			return err
		}
		if err != nil && isExported(f.Name(), f.Pkg(), p.Types) {
			p.skipped = append(p.skipped, fmt.Sprint(err))
		}
	}
	if len(plan.Fields) == 0 && u.NumFields() > 0 && !p.key {
		return p.problem("no field of it can be encoded")
	}
	return nil
}

// reachable returns the fields that a plan writes. Those of a struct that
// another package embeds without exporting it are reached as if they were the
// outer struct's own, if nothing hides them.
func (p *planner) reachable(t types.Type, u *types.Struct) []*types.Var {
	var fields []*types.Var
	for f := range u.Fields() {
		inner, isStruct := f.Type().Underlying().(*types.Struct)
		switch {
		case f.Name() == "_":
		case p.key || !f.Embedded() || !isStruct || isExported(f.Name(), f.Pkg(), p.Types):
			fields = append(fields, f)
		default:
			for _, promoted := range p.reachable(f.Type(), inner) {
				if found, _, _ := types.LookupFieldOrMethod(t, true, p.Types, promoted.Name()); found == promoted {
					fields = append(fields, promoted)
				}
			}
		}
	}
	return fields
}

func (p *planner) mapping(plan *model.Plan, u *types.Map) error {
	plan.Kind = model.Map
	b, ok := u.Key().Underlying().(*types.Basic)
	if _, isParam := types.Unalias(u.Key()).(*types.TypeParam); isParam {
		ok = false
	}
	if !ok || b.Info()&(types.IsBoolean|types.IsInteger|types.IsString) == 0 || b.Kind() == types.Uintptr {
		return p.problem("map keys of type %s have no stable order: use a map with boolean, integer or string keys, or a sorted slice", p.show(u.Key()))
	}
	kind := basicKinds[b.Kind()]
	plan.Key = &model.Plan{Kind: kind, Type: p.speller.typ(u.Key()), Exact: exactly(u.Key(), exactKinds[kind])}
	return p.elem(plan, "[]", u.Elem())
}

// namedBytes notes bytes that have a type of their own, of which a slice does
// not convert to one of bytes.
func (p *planner) namedBytes(plan *model.Plan, elem types.Type) {
	if !exactly(elem, types.Uint8) {
		plan.Elem = &model.Plan{Kind: model.Uint, Type: p.speller.typ(elem)}
	}
}

func isByte(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.Uint8 && textKind(t) == 0
}

// isTime reports whether t is time.Time, or a type made of it without methods
// of its own that matter here.
func isTime(t types.Type) bool {
	if isNamed(t, "time", "Time") {
		return true
	}
	s, ok := t.Underlying().(*types.Struct)
	return ok && s.NumFields() == 3 && s.Field(0).Pkg() != nil && s.Field(0).Pkg().Path() == "time" && s.Field(2).Name() == "loc"
}

// hasInterface reports whether comparing values of t can panic.
func hasInterface(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return true
	case *types.Array:
		return hasInterface(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if hasInterface(f.Type()) {
				return true
			}
		}
	}
	return false
}

// isLock reports whether go vet would complain about a copy of t.
func isLock(t types.Type) bool {
	if a, ok := t.Underlying().(*types.Array); ok {
		return isLock(a.Elem())
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			if isLock(f.Type()) {
				return true
			}
		}
	}
	if _, isInterface := t.Underlying().(*types.Interface); isInterface {
		return false
	}
	has := func(name string) bool {
		o, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), false, nil, name)
		f, ok := o.(*types.Func)
		return ok && f.Signature().Params().Len() == 0 && f.Signature().Results().Len() == 0
	}
	if _, isNamed := types.Unalias(t).(*types.Named); !isNamed {
		return false
	}
	return has("Lock") && has("Unlock")
}
