package analyze

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"github.com/idemgen/idem/generator/internal/model"
)

// shapeOf is what the results of a method and its final errors look like in
// storage, as far as the generator knows: a codec of the user's own is its own
// affair. Errors are always recorded by encoding/json.
func shapeOf(stored []types.Type, codec model.Codec, finals []types.Type) model.Shape {
	s := shaper{names: map[string]string{}, taken: map[string]int{}}
	for _, t := range stored {
		expression := "custom"
		switch codec.Kind {
		case model.JSON:
			expression = s.typ(t, true)
		case model.Proto:
			expression = "proto(" + qualified(t) + ")"
		}
		s.shape.Results = append(s.shape.Results, expression)
	}
	for _, t := range finals {
		expression := ""
		if t != nil {
			expression = s.typ(t, true)
		}
		s.shape.Finals = append(s.shape.Finals, expression)
	}
	slices.SortFunc(s.shape.Objects, func(a, b model.Object) int { return strings.Compare(a.Name, b.Name) })
	return s.shape
}

// A shaper writes the types of results as encoding/json sees them.
type shaper struct {
	shape model.Shape
	names map[string]string // of structs, by their Go types
	taken map[string]int    // how often a name was given
	outer []string          // the named types around, up to a struct
}

// qualified is a type's name with import paths, and without spaces.
func qualified(t types.Type) string {
	return strings.ReplaceAll(types.TypeString(t, nil), " ", "")
}

// typ writes t. addressable is as for fidelity.
func (s *shaper) typ(t types.Type, addressable bool) string {
	if isNamed(t, "time", "Time") {
		return "time"
	}
	if invalid(t, map[types.Type]bool{}) {
		return model.Unknown
	}
	if p, ok := types.Unalias(t).(*types.TypeParam); ok {
		return fmt.Sprintf("param(%d)", p.Index()+1)
	}
	if _, isPointer := t.Underlying().(*types.Pointer); !isPointer {
		if s.encodes(t, "MarshalJSON", addressable) {
			return "json(" + qualified(t) + ")"
		}
		if s.encodes(t, "MarshalText", addressable) {
			return "text(" + qualified(t) + ")"
		}
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		id := types.TypeString(n, nil)
		if i := slices.Index(s.outer, id); i >= 0 {
			return fmt.Sprintf("^%d", len(s.outer)-i)
		}
		s.outer = append(s.outer, id)
		defer func() { s.outer = s.outer[:len(s.outer)-1] }()
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Name()
	case *types.Pointer:
		return "*" + s.typ(u.Elem(), true)
	case *types.Slice:
		if isByte(u.Elem()) {
			return "bytes"
		}
		return "[]" + s.typ(u.Elem(), true)
	case *types.Array:
		return fmt.Sprintf("[%d]%s", u.Len(), s.typ(u.Elem(), addressable))
	case *types.Map:
		return "map[" + s.typ(u.Key(), false) + "]" + s.typ(u.Elem(), false)
	case *types.Struct:
		return "{" + s.structure(t, u, addressable) + "}"
	default:
		return "none" // it was refused, or its loss accepted
	}
}

func (s *shaper) encodes(t types.Type, method string, addressable bool) bool {
	pointer, ok := ownMethod(t, method, nil, textError)
	return ok && (!pointer || addressable)
}

// structure returns the name of a struct, and adds it to the shape when it is
// first met.
func (s *shaper) structure(t types.Type, u *types.Struct, addressable bool) string {
	id := types.TypeString(t, nil)
	if name, ok := s.names[id]; ok {
		return name
	}
	name := "struct"
	if n, ok := types.Unalias(t).(*types.Named); ok {
		name = n.Obj().Name()
	}
	s.taken[name]++
	if n := s.taken[name]; n > 1 {
		name = fmt.Sprintf("%s.%d", name, n)
	}
	s.names[id] = name
	var all []shapeField
	around := s.outer
	s.outer = nil // a struct means the same wherever it is
	s.fields(u, 0, addressable, map[string]bool{}, &all)
	s.outer = around
	out := model.Object{Name: name}
	for i, f := range all {
		rivals := slices.Concat(all[:i], all[i+1:])
		if !slices.ContainsFunc(rivals, func(o shapeField) bool { return o.Name == f.Name && !f.hides(o) }) {
			out.Members = append(out.Members, f.Member)
		}
	}
	slices.SortFunc(out.Members, func(a, b model.Member) int { return strings.Compare(a.Name, b.Name) })
	s.shape.Objects = append(s.shape.Objects, out)
	return name
}

type shapeField struct {
	model.Member
	depth  int
	tagged bool
}

// hides reports whether encoding/json uses f and not other, of the same name.
func (f shapeField) hides(other shapeField) bool {
	return f.depth < other.depth || f.depth == other.depth && f.tagged && !other.tagged
}

// fields collects the fields of a struct and those promoted from embedded ones.
func (s *shaper) fields(u *types.Struct, depth int, addressable bool, outer map[string]bool, out *[]shapeField) {
	for i := range u.NumFields() {
		field := u.Field(i)
		tag := reflect.StructTag(u.Tag(i)).Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if !validName(name) {
			name = ""
		}
		target, isPointer := field.Type(), false
		if p, ok := target.Underlying().(*types.Pointer); ok {
			target, isPointer = p.Elem(), true
		}
		embedded, isStruct := target.Underlying().(*types.Struct)
		switch {
		case tag == "-" || !field.Exported() && !(field.Embedded() && isStruct):
		case field.Embedded() && isStruct && name == "":
			if id := types.TypeString(target, nil); !outer[id] {
				outer[id] = true
				s.fields(embedded, depth+1, addressable || isPointer, outer, out)
				delete(outer, id)
			}
		default:
			f := shapeField{model.Member{Name: name, Type: s.typ(field.Type(), addressable)}, depth, name != ""}
			if name == "" {
				f.Name = field.Name()
			}
			if slices.Contains(strings.Split(options, ","), "string") {
				f.Type = "quoted(" + f.Type + ")"
			}
			*out = append(*out, f)
		}
	}
}
