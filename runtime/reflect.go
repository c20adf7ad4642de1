package idem

import (
	"encoding"
	"reflect"
	"slices"
	"sync"
	"time"
)

// This file writes values whose type is known at run time only: type parameters
// of generic interfaces and the Request of Do. For values that generated code
// writes as well, the bytes are the same.

var (
	timeType      = reflect.TypeFor[time.Time]()
	float32Type   = reflect.TypeFor[float32]()
	marshalerType = reflect.TypeFor[encoding.TextMarshaler]()
)

// traits is what is worth knowing of a type only once.
type traits struct {
	text    bool // values give their text, see hasText
	zero    bool // of these, some equal the type's zero
	instant bool // it is time.Time or made of it
	letter  byte // for the kind, in a key; 0 of strings and pointers

	keyable   error // why values cannot be part of a key
	encodable bool  // values can be part of a fingerprint

	members []int                 // fields of a struct that a key holds
	fields  []reflect.StructField // those that a fingerprint covers, by their names
}

var knownTraits sync.Map // reflect.Type to *traits

func traitsOf(t reflect.Type) *traits {
	if known, ok := knownTraits.Load(t); ok {
		return known.(*traits)
	}
	text := hasText(t)
	known := &traits{
		text:      text,
		zero:      text && t.Comparable() && !hasInterface(t),
		instant:   isTime(t),
		keyable:   keyable(t, t.String(), nil),
		encodable: isEncodable(t, nil),
	}
	known.letter = letterOf(t, known)
	if t.Kind() == reflect.Struct {
		known.fields = fingerprintFields(t)
		for i := range t.NumField() {
			if t.Field(i).Name != "_" {
				known.members = append(known.members, i)
			}
		}
	}
	stored, _ := knownTraits.LoadOrStore(t, known)
	return stored.(*traits)
}

// hasText reports whether values of t, or their addresses, give their text. A
// method that may be promoted from one field among others does not count: it
// would know nothing of the others.
func hasText(t reflect.Type) bool {
	if t == timeType || t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface || !givesText(t) {
		return false
	}
	if t.Kind() != reflect.Struct {
		return true
	}
	for f := range t.Fields() {
		if f.Anonymous && givesText(f.Type) {
			// A method that comes from the only field is as good as it is there.
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			return t.NumField() == 1 && hasText(inner)
		}
	}
	return true
}

func givesText(t reflect.Type) bool {
	return t.Implements(marshalerType) || reflect.PointerTo(t).Implements(marshalerType)
}

// hasInterface reports whether a value of t may hold what cannot be compared.
func hasInterface(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Array:
		return hasInterface(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if hasInterface(f.Type) {
				return true
			}
		}
	}
	return false
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

// float32Of does not go through float64, on the way to which a NaN changes.
func float32Of(v reflect.Value) float32 { return v.Convert(float32Type).Interface().(float32) }

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
	if v.CanAddr() {
		return v.Bytes()
	}
	// The elements may have a type of their own, which reflect.Copy refuses.
	b := make([]byte, v.Len())
	for i := range b {
		b[i] = byte(v.Index(i).Uint())
	}
	return b
}
