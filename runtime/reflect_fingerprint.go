package idem

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Reflect writes a value whose type is known at run time only: the exported
// fields of structs, with those that are promoted from embedded structs, and
// what pointers lead to. What has no canonical encoding, such as what an
// interface holds, is left out of a struct, and is an error as the whole value.
// A struct that embeds a text type beside other fields, or a time, is written
// by its fields, even if it has a text of its own.
func (f *FingerprintBuilder) Reflect(v any) {
	value := reflect.ValueOf(v)
	switch {
	case !value.IsValid():
		f.Nil()
	case !traitsOf(value.Type()).encodable:
		f.fail(fmt.Errorf("a value of type %s has no canonical encoding", value.Type()))
		f.Nil()
	default:
		f.value(value)
	}
}

// isEncodable reports whether values of t have a canonical encoding. It assumes
// of the types in outer, of which t is a part, that they have one.
func isEncodable(t reflect.Type, outer []reflect.Type) bool {
	if hasText(t) || isTime(t) {
		return true
	}
	if i := slices.Index(outer, t); i >= 0 {
		// Pointers that lead to nothing but pointers can run in a circle only.
		return slices.ContainsFunc(outer[i:], func(o reflect.Type) bool { return o.Kind() != reflect.Pointer })
	}
	outer = append(outer, t)
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Uintptr, reflect.Interface:
		return false
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return isEncodable(t.Elem(), outer)
	case reflect.Map:
		return isMapKey(t.Key()) && isEncodable(t.Elem(), outer)
	case reflect.Struct:
		return t.NumField() == 0 ||
			slices.ContainsFunc(reachable(t), func(f reflect.StructField) bool { return isEncodable(f.Type, outer) })
	default:
		return true
	}
}

// reachable returns the exported fields of a struct, and those of structs that
// it embeds without exporting them: they are reached as if they were its own,
// if nothing hides them.
func reachable(t reflect.Type) []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool {
		for i := 1; i < len(f.Index); i++ {
			through := t.FieldByIndex(f.Index[:i])
			if through.IsExported() || through.Type.Kind() != reflect.Struct {
				return true
			}
		}
		return !f.IsExported()
	})
}

// fingerprintFields returns the fields that a fingerprint covers, by their
// names.
func fingerprintFields(t reflect.Type) []reflect.StructField {
	fields := slices.DeleteFunc(reachable(t), func(f reflect.StructField) bool { return !isEncodable(f.Type, nil) })
	slices.SortFunc(fields, func(a, b reflect.StructField) int { return strings.Compare(a.Name, b.Name) })
	return fields
}

// value writes a value whose type is encodable.
func (f *FingerprintBuilder) value(v reflect.Value) {
	is := traitsOf(v.Type())
	switch {
	case is.zero && v.Equal(reflect.Zero(v.Type())):
		f.Zero()
		return
	case is.text:
		f.Text(textOf(v, f.Buffer()))
		return
	case is.instant:
		f.Time(asTime(v))
		return
	case f.scalar(v):
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			f.Nil()
			return
		}
		f.Pointer()
		f.value(v.Elem())
	case reflect.Slice, reflect.Array:
		f.elements(v)
	case reflect.Map:
		if f.OpenMap(v.Len()) {
			for _, key := range sortedKeys(v) {
				f.scalar(key)
				f.MapValue()
				f.value(v.MapIndex(key))
			}
			f.Close()
		}
	case reflect.Struct:
		if f.Open() {
			for _, field := range is.fields {
				f.Field(field.Name)
				f.value(v.FieldByIndex(field.Index))
			}
			f.Close()
		}
	}
}

// scalar writes v if it is of a basic type, and reports whether it is.
func (f *FingerprintBuilder) scalar(v reflect.Value) bool {
	switch kind := v.Kind(); {
	case kind == reflect.Bool:
		f.Bool(v.Bool())
	case v.CanInt():
		f.Int(v.Int())
	case v.CanUint():
		f.Uint(v.Uint())
	case kind == reflect.Float32:
		f.Float32(float32Of(v))
	case kind == reflect.Float64:
		f.Float64(v.Float())
	case kind == reflect.Complex64:
		f.Complex64(complex64(v.Complex()))
	case kind == reflect.Complex128:
		f.Complex128(v.Complex())
	case kind == reflect.String:
		f.String(v.String())
	default:
		return false
	}
	return true
}

func (f *FingerprintBuilder) elements(v reflect.Value) {
	switch {
	case v.Kind() == reflect.Slice && isByteSlice(v.Type()):
		f.Bytes(v.Bytes())
	case isByteSlice(v.Type()):
		f.ID(arrayBytes(v))
	case v.Kind() == reflect.Array:
		if f.Open() {
			for i := range v.Len() {
				f.Index(i)
				f.value(v.Index(i))
			}
			f.Close()
		}
	default:
		if f.OpenList(v.Len()) {
			for i := range v.Len() {
				f.value(v.Index(i))
			}
			f.Close()
		}
	}
}
