package idem

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// MapKey is the type of a map's keys that have an order: false before true,
// integers by their value, strings by their bytes.
type MapKey interface {
	~bool | ~string |
		~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// SortedKeys returns the keys of m in their order. Generated code is its user.
func SortedKeys[M ~map[K]V, K MapKey, V any](m M) []K {
	keys := slices.AppendSeq(make([]K, 0, len(m)), maps.Keys(m))
	switch keys := any(keys).(type) {
	case []string:
		slices.Sort(keys)
	case []int:
		slices.Sort(keys)
	case []int64:
		slices.Sort(keys)
	default:
		slices.SortFunc(keys.([]K), func(a, b K) int { return compareKeys(reflect.ValueOf(a), reflect.ValueOf(b)) })
	}
	return keys
}

func compareKeys(a, b reflect.Value) int {
	switch {
	case a.Kind() == reflect.String:
		return strings.Compare(a.String(), b.String())
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	case a.Bool() == b.Bool():
		return 0
	case a.Bool():
		return 1
	default:
		return -1
	}
}

// IsZero reports whether v equals its type's zero. Generated code is its user.
func IsZero[T comparable](v T) bool {
	var zero T
	return v == zero
}

// AsBytes returns the bytes of a slice whose elements have a type of their
// own. Generated code is its user.
func AsBytes[E ~byte](s []E) []byte {
	b := make([]byte, len(s))
	for i, e := range s {
		b[i] = byte(e)
	}
	return b
}
