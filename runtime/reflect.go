package idem

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
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

// Reflect writes a value of a type parameter. A value without a stable
// encoding (a function, a channel, an interface, a pointer to a struct, an
// address) is an error of the call.
//
// What a type parameter stands for can itself be an interface, so the dynamic
// type has to count: all but strings begin with a letter for their kind.
func (k *KeyBuilder) Reflect(v any) {
	value := reflect.ValueOf(v)
	if !value.IsValid() {
		k.Nil()
		return
	}
	if err := keyable(value.Type(), value.Type().String(), nil); err != nil {
		k.fail(err)
		k.Nil()
		return
	}
	k.kind = kindLetter(value)
	k.value(value)
}

// kindLetter tells values apart whose encodings would be the same.
func kindLetter(v reflect.Value) byte {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return 0
		}
		v = v.Elem()
	}
	switch kind := v.Kind(); {
	case hasText(v.Type()):
		return 't'
	case isTime(v.Type()):
		return 'T'
	case kind == reflect.String:
		return 0
	case kind == reflect.Bool:
		return 'b'
	case v.CanInt():
		return 'i'
	case v.CanUint():
		return 'u'
	case v.CanFloat():
		return 'f'
	case v.CanComplex():
		return 'c'
	case kind == reflect.Slice:
		return 'l'
	case kind == reflect.Array:
		return 'a'
	case kind == reflect.Map:
		return 'm'
	default:
		return 'v'
	}
}

// keyable returns why values of t cannot be part of a key.
func keyable(t reflect.Type, path string, outer []reflect.Type) error {
	bad := func(why string) error { return fmt.Errorf("%s cannot be part of a key: %s", path, why) }
	if hasText(t) || isTime(t) || slices.Contains(outer, t) {
		return nil
	}
	outer = append(outer, t)
	switch t.Kind() {
	case reflect.Func, reflect.Chan:
		return bad("functions and channels cannot be encoded")
	case reflect.UnsafePointer, reflect.Uintptr:
		return bad("an address differs between processes")
	case reflect.Interface:
		return bad("an interface can hold any dynamic type")
	case reflect.Pointer:
		if k := t.Elem().Kind(); !hasText(t.Elem()) && !isTime(t.Elem()) && (k > reflect.Complex128 && k != reflect.String) {
			return bad("a pointer's identity is not stable")
		}
		return keyable(t.Elem(), path, outer)
	case reflect.Slice, reflect.Array:
		return keyable(t.Elem(), path+"[]", outer)
	case reflect.Map:
		if !isMapKey(t.Key()) {
			return bad("its keys have no stable order")
		}
		return keyable(t.Elem(), path+"[]", outer)
	case reflect.Struct:
		for f := range t.Fields() {
			if f.Name != "_" && !f.IsExported() {
				return bad("its field " + f.Name + " is not exported")
			}
			if err := keyable(f.Type, path+"."+f.Name, outer); err != nil && f.Name != "_" {
				return err
			}
		}
	}
	return nil
}

// value writes a value whose type is keyable.
func (k *KeyBuilder) value(v reflect.Value) {
	t := v.Type()
	switch {
	case hasText(t):
		k.Text(textOf(v, k.Buffer()))
		return
	case isTime(t):
		k.Time(asTime(v))
		return
	case writeScalar(k, v):
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			k.Nil()
			return
		}
		k.value(v.Elem())
	case reflect.Slice, reflect.Array:
		k.elements(v)
	case reflect.Map:
		k.Open()
		for _, key := range sortedKeys(v) {
			writeScalar(k, key)
			k.MapValue()
			k.value(v.MapIndex(key))
		}
		k.Close()
	case reflect.Struct:
		k.Open()
		for f, field := range v.Fields() {
			if f.Name != "_" {
				k.value(field)
			}
		}
		k.Close()
	}
}

func (k *KeyBuilder) elements(v reflect.Value) {
	switch {
	case v.Kind() == reflect.Slice && isByteSlice(v.Type()):
		k.Bytes(v.Bytes())
	case isByteSlice(v.Type()):
		k.ID(arrayBytes(v))
	default:
		k.Open()
		for i := range v.Len() {
			k.value(v.Index(i))
		}
		k.Close()
	}
}

// Reflect writes a value whose type is known at run time only: the exported
// fields of structs, and what pointers lead to. What has no canonical encoding
// is left out of a struct, and is an error as the whole value.
func (f *FingerprintBuilder) Reflect(v any) {
	value := reflect.ValueOf(v)
	switch {
	case !value.IsValid():
		f.Nil()
	case !encodable(value.Type()):
		f.fail(fmt.Errorf("a value of type %s has no canonical encoding", value.Type()))
		f.Nil()
	default:
		f.value(value)
	}
}

var encodableTypes sync.Map // reflect.Type to bool

// encodable reports whether values of t have a canonical encoding.
func encodable(t reflect.Type) bool {
	if known, ok := encodableTypes.Load(t); ok {
		return known.(bool)
	}
	ok := isEncodable(t, nil)
	encodableTypes.Store(t, ok)
	return ok
}

// isEncodable assumes of the types in outer, of which t is a part, that they
// are.
func isEncodable(t reflect.Type, outer []reflect.Type) bool {
	if hasText(t) || isTime(t) || slices.Contains(outer, t) {
		return true
	}
	outer = append(outer, t)
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Uintptr, reflect.Interface:
		return false
	case reflect.Pointer:
		return t.Elem() != t && isEncodable(t.Elem(), outer)
	case reflect.Slice, reflect.Array:
		return isEncodable(t.Elem(), outer)
	case reflect.Map:
		return isMapKey(t.Key()) && isEncodable(t.Elem(), outer)
	case reflect.Struct:
		if t.NumField() == 0 {
			return true
		}
		for f := range t.Fields() {
			if f.IsExported() && isEncodable(f.Type, outer) {
				return true
			}
		}
		return false
	default:
		return true
	}
}

// structFields holds, for each type, the fields that a fingerprint covers, by
// their names.
var structFields sync.Map // reflect.Type to []reflect.StructField

func fingerprintFields(t reflect.Type) []reflect.StructField {
	if known, ok := structFields.Load(t); ok {
		return known.([]reflect.StructField)
	}
	var fields []reflect.StructField
	for f := range t.Fields() {
		if f.IsExported() && encodable(f.Type) {
			fields = append(fields, f)
		}
	}
	slices.SortFunc(fields, func(a, b reflect.StructField) int { return strings.Compare(a.Name, b.Name) })
	structFields.Store(t, fields)
	return fields
}

// value writes a value whose type is encodable.
func (f *FingerprintBuilder) value(v reflect.Value) {
	t := v.Type()
	switch {
	case hasText(t):
		if t.Comparable() && v.IsZero() {
			f.Zero()
			return
		}
		f.Text(textOf(v, f.Buffer()))
		return
	case isTime(t):
		f.Time(asTime(v))
		return
	case writeScalar(f, v):
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
				writeScalar(f, key)
				f.MapValue()
				f.value(v.MapIndex(key))
			}
			f.Close()
		}
	case reflect.Struct:
		if f.Open() {
			for _, field := range fingerprintFields(t) {
				f.Field(field.Name)
				f.value(v.FieldByIndex(field.Index))
			}
			f.Close()
		}
	}
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
