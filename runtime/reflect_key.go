package idem

import (
	"fmt"
	"reflect"
	"slices"
)

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
		if !k.Open() {
			return
		}
		for i := range v.Len() {
			k.value(v.Index(i))
		}
		k.Close()
	}
}
