package analyze

import (
	"fmt"
	"go/types"
	"reflect"
	"strings"
	"unicode"
)

// A loss is the first reason why encoding/json would not bring a result back
// as it was.
type loss struct {
	path string // from the result's type: Receipt.Lines[].tax
	why  string

	// fatal: the result cannot be recorded at all, so that accepting the loss
	// makes no sense.
	fatal bool
}

func (l *loss) explain(method string, result int, typ string) string {
	if l.fatal {
		return fmt.Sprintf("result %d of %s (%s) cannot be recorded and replayed: %s: %s: return a value that encoding/json brings back whole, or name another //idem:codec",
			result, method, typ, l.path, l.why)
	}
	return fmt.Sprintf("result %d of %s (%s) would come back changed from a replay: %s: %s: export the field, give the type MarshalJSON and UnmarshalJSON, "+
		"name another //idem:codec, or accept the loss with //idem:lossy and the reason", result, method, typ, l.path, l.why)
}

// fidelity looks for a loss in values of t.
func (c *checker) fidelity(t types.Type) *loss {
	f := fidelity{checker: c, seen: map[string]bool{}}
	f.value(c.show(t), t, true)
	if f.fatal != nil {
		return f.fatal
	}
	return f.lossy
}

type fidelity struct {
	*checker
	seen         map[string]bool
	fatal, lossy *loss // the first of each kind
}

func (f *fidelity) stop(path, format string, args ...any) {
	if f.fatal == nil {
		f.fatal = &loss{path, fmt.Sprintf(format, args...), true}
	}
}

func (f *fidelity) lose(path, format string, args ...any) {
	if f.lossy == nil {
		f.lossy = &loss{path, fmt.Sprintf(format, args...), false}
	}
}

// value looks at values of t. addressable says that encoding/json can take
// their address, and so calls the methods of the pointer as well.
func (f *fidelity) value(path string, t types.Type, addressable bool) {
	key := fmt.Sprint(types.TypeString(t, nil), addressable)
	if f.seen[key] {
		return
	}
	f.seen[key] = true
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return // seen at run time only
	}
	if f.marshaler(path, t, addressable) {
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Kind() == types.Uintptr || u.Kind() == types.UnsafePointer:
			f.stop(path, "an address means nothing in another process")
		case u.Info()&types.IsComplex != 0:
			f.stop(path, "encoding/json has no complex numbers")
		}
	case *types.Interface:
		f.stop(path, "it is an interface, whose dynamic type is unknown on a replay")
	case *types.Chan:
		f.stop(path, "it is a channel")
	case *types.Signature:
		f.stop(path, "it is a function")
	case *types.Pointer:
		f.pointer(path, u)
	case *types.Slice:
		f.value(path+"[]", u.Elem(), true)
	case *types.Array:
		f.value(path+"[]", u.Elem(), addressable)
	case *types.Map:
		f.mapping(path, u)
	case *types.Struct:
		f.structure(path, u, addressable)
	}
}

// marshaler reports whether the type encodes itself, and whether it also
// decodes.
func (f *fidelity) marshaler(path string, t types.Type, addressable bool) bool {
	for _, m := range []struct{ marshal, unmarshal string }{{"MarshalJSON", "UnmarshalJSON"}, {"MarshalText", "UnmarshalText"}} {
		pointer, marshals := ownMethod(t, m.marshal, nil, textError)
		_, unmarshals := ownMethod(t, m.unmarshal, justBytes, justError)
		_, isPointer := t.Underlying().(*types.Pointer)
		switch {
		case !marshals && !unmarshals:
			if f.promoted(path, t, m.marshal) {
				return true
			}
		case marshals && unmarshals && (!pointer || addressable || isPointer):
			return true
		case marshals && unmarshals:
			f.stop(path, "%s has a pointer receiver, and encoding/json cannot take the address of a map's element: use a pointer as the element", m.marshal)
			return true
		case marshals && (!pointer || addressable || isPointer):
			f.stop(path, "it has %s but no %s", m.marshal, m.unmarshal)
			return true
		case unmarshals:
			f.stop(path, "it has %s but no %s", m.unmarshal, m.marshal)
			return true
		}
	}
	return false
}

// promoted reports a struct that encoding/json takes for what one of its
// embedded fields is, because that field's methods are promoted.
func (f *fidelity) promoted(path string, t types.Type, method string) bool {
	if _, ok := t.Underlying().(*types.Struct); !ok {
		return false
	}
	obj, index, _ := types.LookupFieldOrMethod(types.NewPointer(t), false, nil, method)
	fn, ok := obj.(*types.Func)
	if !ok || len(index) < 2 || !matches(fn.Signature().Params(), nil) || !matches(fn.Signature().Results(), textError) {
		return false
	}
	embedded := t.Underlying().(*types.Struct).Field(index[0])
	f.lose(path, "it embeds %s, whose %s is promoted and encodes that field alone", embedded.Name(), method)
	return true
}

func (f *fidelity) pointer(path string, u *types.Pointer) {
	switch u.Elem().Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map:
		if _, encodes := ownMethod(u.Elem(), "MarshalJSON", nil, textError); !encodes {
			f.lose(path, "a pointer to a nil %s comes back as a nil pointer", f.show(u.Elem()))
		}
	}
	f.value(path, u.Elem(), true)
}

func (f *fidelity) mapping(path string, u *types.Map) {
	key := u.Key()
	b, basic := key.Underlying().(*types.Basic)
	_, encodes := ownMethod(key, "MarshalText", nil, textError)
	_, decodes := ownMethod(key, "UnmarshalText", justBytes, justError)
	_, isParam := types.Unalias(key).(*types.TypeParam)
	switch {
	case isParam:
	case basic && b.Info()&types.IsString != 0 && encodes == decodes:
	case encodes && decodes:
	case encodes != decodes:
		f.stop(path, "the map's keys have MarshalText or UnmarshalText, but not both")
	case basic && b.Info()&types.IsInteger != 0 && b.Kind() != types.Uintptr:
	default:
		f.stop(path, "encoding/json has no maps with keys of type %s", f.show(key))
	}
	f.value(path+"[]", u.Elem(), false)
}

// A jsonField is a field as encoding/json names it.
type jsonField struct {
	name   string
	path   string
	depth  int
	tagged bool
}

func (f *fidelity) structure(path string, u *types.Struct, addressable bool) {
	var fields []jsonField
	f.fields(path, u, 0, addressable, map[string]bool{}, &fields)
	byName := map[string][]jsonField{}
	for _, field := range fields {
		byName[field.name] = append(byName[field.name], field)
	}
	for _, field := range fields {
		if !dominates(field, byName[field.name]) {
			f.lose(field.path, "another field has the JSON name %q too, so that encoding/json leaves it out", field.name)
		}
	}
}

// dominates reports whether encoding/json uses field among all of its name:
// the least nested one, among those the only one with a tag.
func dominates(field jsonField, all []jsonField) bool {
	for _, other := range all {
		if other.path == field.path {
			continue
		}
		if other.depth < field.depth || other.depth == field.depth && (other.tagged || !field.tagged) {
			return false
		}
	}
	return true
}

// fields looks at the fields of a struct, and at those promoted from embedded
// ones.
func (f *fidelity) fields(path string, u *types.Struct, depth int, addressable bool, outer map[string]bool, out *[]jsonField) {
	for i := range u.NumFields() {
		field := u.Field(i)
		at := path + "." + field.Name()
		tag := reflect.StructTag(u.Tag(i)).Get("json")
		name, _, _ := strings.Cut(tag, ",")
		if !validName(name) {
			name = ""
		}
		target := field.Type()
		pointer, isPointer := target.Underlying().(*types.Pointer)
		if isPointer {
			target = pointer.Elem()
		}
		embedded, isStruct := target.Underlying().(*types.Struct)
		switch {
		case f.zeroSized(field.Type()):
		case tag == "-":
			f.lose(at, `the field is left out by its tag json:"-"`)
		case field.Embedded() && isStruct && !field.Exported() && isPointer:
			f.stop(at, "encoding/json cannot set an embedded pointer to an unexported struct")
		case !field.Exported() && !(field.Embedded() && isStruct):
			f.lose(at, "the unexported field is lost by encoding/json")
		case field.Embedded() && isStruct && name == "":
			// Also if the struct encodes itself, which counts only where its
			// methods are promoted.
			id := types.TypeString(target, nil)
			if outer[id] {
				continue
			}
			outer[id] = true
			f.fields(at, embedded, depth+1, addressable || isPointer, outer, out)
			delete(outer, id)
		default:
			if name == "" {
				*out = append(*out, jsonField{field.Name(), at, depth, false})
			} else {
				*out = append(*out, jsonField{name, at, depth, true})
			}
			f.value(at, field.Type(), addressable)
		}
	}
}

// empty reports whether a struct has nothing to lose.
func (f *fidelity) empty(s *types.Struct) bool {
	for field := range s.Fields() {
		if !f.zeroSized(field.Type()) {
			return false
		}
	}
	return true
}

// zeroSized reports whether values of t hold nothing.
func (f *fidelity) zeroSized(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return f.empty(u)
	case *types.Array:
		return u.Len() == 0 || f.zeroSized(u.Elem())
	default:
		return false
	}
}

// validName reports whether encoding/json takes a name from a tag.
func validName(name string) bool {
	if name == "" {
		return false
	}
	for _, r := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return true
}
