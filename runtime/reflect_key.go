package idem

import (
	"fmt"
	"reflect"
	"slices"
)

// Reflect writes a value of a type parameter, by its dynamic type: a type
// parameter can stand for an interface. A value without a stable encoding (one
// that holds a function, a channel, an interface, a pointer to a struct, an
// address, or a struct with an unexported field) is an error of the call.
//
// Values of different kinds never have one encoding. Values of named types are
// written as those of the types that they are made of. A struct that embeds a
// text type beside other fields, or a time, is written by its fields, even if it
// has a text of its own.
func (k *KeyBuilder) Reflect(v any) {
	value := reflect.ValueOf(v)
	if !value.IsValid() {
		k.Nil()
		return
	}
	if err := traitsOf(value.Type()).keyable; err != nil {
		k.fail(err)
		k.Nil()
		return
	}
	k.value(value)
}

// letterOf tells values apart whose encodings would be the same, but not
// pointers from what they lead to.
func letterOf(t reflect.Type, is *traits) byte {
	switch kind := t.Kind(); {
	case is.text:
		return 't'
	case is.instant:
		return 'T'
	case kind == reflect.String || kind == reflect.Pointer:
		return 0
	case kind == reflect.Bool:
		return 'b'
	case kind <= reflect.Int64:
		return 'i'
	case kind <= reflect.Uintptr:
		return 'u'
	case kind <= reflect.Float64:
		return 'f'
	case kind <= reflect.Complex128:
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
		e := t.Elem()
		if k := e.Kind(); !hasText(e) && !isTime(e) && k > reflect.Complex128 && k != reflect.String && (k != reflect.Array || !isByteSlice(e)) {
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
	is := traitsOf(v.Type())
	k.kind = is.letter
	switch {
	case is.text:
		k.Text(textOf(v, k.Buffer()))
		return
	case is.instant:
		k.Time(asTime(v))
		return
	case k.scalar(v):
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
		if !k.Open() {
			return
		}
		for _, key := range sortedKeys(v) {
			k.value(key)
			k.MapValue()
			k.value(v.MapIndex(key))
		}
		k.Close()
	case reflect.Struct:
		if !k.Open() {
			return
		}
		for _, i := range is.members {
			k.value(v.Field(i))
		}
		k.Close()
	}
}

// scalar writes v if it is of a basic type, and reports whether it is.
func (k *KeyBuilder) scalar(v reflect.Value) bool {
	switch kind := v.Kind(); {
	case kind == reflect.Bool:
		k.Bool(v.Bool())
	case v.CanInt():
		k.Int(v.Int())
	case v.CanUint():
		k.Uint(v.Uint())
	case kind == reflect.Float32:
		k.Float32(float32Of(v))
	case kind == reflect.Float64:
		k.Float64(v.Float())
	case kind == reflect.Complex64:
		k.Complex64(complex64(v.Complex()))
	case kind == reflect.Complex128:
		k.Complex128(v.Complex())
	case kind == reflect.String:
		k.String(v.String())
	default:
		return false
	}
	return true
}

func (k *KeyBuilder) elements(v reflect.Value) {
	switch {
	case v.Kind() == reflect.Slice && isByteSlice(v.Type()):
		k.Bytes(v.Bytes())
	case isByteSlice(v.Type()):
		k.ID(arrayBytes(v))
	default:
		if !k.Open() {
			return
		}
		for i := range v.Len() {
			k.value(v.Index(i))
		}
		k.Close()
	}
}
