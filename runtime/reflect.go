package idem

import (
	"encoding"
	"reflect"
	"slices"
	"time"
)

// This file writes values whose type is known at run time only: type parameters
// of generic interfaces and the Request of Do. For values that generated code
// writes as well, the bytes are the same.

var (
	timeType      = reflect.TypeFor[time.Time]()
	appenderType  = reflect.TypeFor[encoding.TextAppender]()
	marshalerType = reflect.TypeFor[encoding.TextMarshaler]()
)

// hasText reports whether values of t, or their addresses, give their text. A
// method that may be promoted from one field among others does not count: it
// would know nothing of the others.
func hasText(t reflect.Type) bool {
	if t == timeType || t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return false
	}
	if !givesText(t) {
		return false
	}
	if t.Kind() == reflect.Struct && t.NumField() > 1 {
		for f := range t.Fields() {
			if f.Anonymous && givesText(f.Type) {
				return false
			}
		}
	}
	return true
}

func givesText(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(appenderType) || p.Implements(marshalerType) || t.Implements(marshalerType)
}

// textOf returns the text of v, for whose type hasText holds.
func textOf(v reflect.Value, buffer []byte) ([]byte, error) {
	if !v.CanAddr() {
		addressable := reflect.New(v.Type()).Elem()
		addressable.Set(v)
		v = addressable
	}
	switch m := v.Addr().Interface().(type) {
	case encoding.TextAppender:
		return m.AppendText(buffer)
	default:
		return m.(encoding.TextMarshaler).MarshalText()
	}
}

// isTime reports whether t is time.Time or made of it.
func isTime(t reflect.Type) bool { return t.ConvertibleTo(timeType) && t.Kind() == reflect.Struct }

func asTime(v reflect.Value) time.Time { return v.Convert(timeType).Interface().(time.Time) }

func isByteSlice(t reflect.Type) bool { return t.Elem().Kind() == reflect.Uint8 && !hasText(t.Elem()) }

// scalars is what both builders can write.
type scalars interface {
	Bool(bool)
	Int(int64)
	Uint(uint64)
	Float32(float32)
	Float64(float64)
	Complex64(complex64)
	Complex128(complex128)
	String(string)
}

// writeScalar writes v if it is of a basic type, and reports whether it is.
func writeScalar(b scalars, v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Bool:
		b.Bool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		b.Int(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		b.Uint(v.Uint())
	case reflect.Float32:
		b.Float32(float32(v.Float()))
	case reflect.Float64:
		b.Float64(v.Float())
	case reflect.Complex64:
		b.Complex64(complex64(v.Complex()))
	case reflect.Complex128:
		b.Complex128(v.Complex())
	case reflect.String:
		b.String(v.String())
	default:
		return false
	}
	return true
}

// sortedKeys returns the keys of a map in the order of SortedKeys.
func sortedKeys(v reflect.Value) []reflect.Value {
	keys := v.MapKeys()
	slices.SortFunc(keys, compareKeys)
	return keys
}

func isMapKey(t reflect.Type) bool {
	k := t.Kind()
	return k >= reflect.Bool && k <= reflect.Uint64 || k == reflect.String
}

// arrayBytes returns the bytes of an array of bytes.
func arrayBytes(v reflect.Value) []byte {
	b := make([]byte, v.Len())
	reflect.Copy(reflect.ValueOf(b), v)
	return b
}
