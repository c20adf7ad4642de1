package analyze

import (
	"go/types"

	"github.com/idemgen/idem/generator/internal/model"
)

// ownMethod finds a method that is t's own, or that stands for it although it
// is promoted. pointer is set if the method needs an address.
func ownMethod(t types.Type, name string, params, results []types.Type) (pointer, ok bool) {
	if p, isPointer := types.Unalias(t).(*types.Pointer); isPointer {
		// A pointer's methods are those of what it points to.
		t = p.Elem()
	}
	if types.IsInterface(t) {
		return false, false
	}
	obj, index, _ := types.LookupFieldOrMethod(t, false, nil, name)
	if obj == nil {
		obj, index, _ = types.LookupFieldOrMethod(types.NewPointer(t), false, nil, name)
		pointer = true
	}
	f, isFunc := obj.(*types.Func)
	if !isFunc || !matches(f.Signature().Params(), params) || !matches(f.Signature().Results(), results) {
		return false, false
	}
	return pointer, standsForAll(t, index[:len(index)-1])
}

// standsForAll reports whether a method that is promoted from the end of a path
// of embedded fields knows the whole value: there is no other field on the way.
func standsForAll(t types.Type, path []int) bool {
	for _, i := range path {
		if p, isPointer := t.Underlying().(*types.Pointer); isPointer {
			t = p.Elem()
		}
		s, isStruct := t.Underlying().(*types.Struct)
		if !isStruct || s.NumFields() > 1 {
			return false
		}
		t = s.Field(i).Type()
	}
	return true
}

// isOfTime reports whether t's text is that of a time that it embeds, with the
// zone, which does not count.
func isOfTime(t types.Type) bool {
	o, _, _ := types.LookupFieldOrMethod(t, false, nil, "MarshalText")
	f, isFunc := o.(*types.Func)
	return isFunc && isNamed(f.Signature().Recv().Type(), "time", "Time")
}

func matches(tuple *types.Tuple, want []types.Type) bool {
	if tuple.Len() != len(want) {
		return false
	}
	for i, w := range want {
		if !types.Identical(tuple.At(i).Type(), w) {
			return false
		}
	}
	return true
}

var (
	bytesType = types.NewSlice(types.Typ[types.Byte])
	errorType = types.Universe.Lookup("error").Type()

	justBytes = []types.Type{bytesType}
	textError = []types.Type{bytesType, errorType}
	justError = []types.Type{errorType}
)

// textKind returns how a value of t gives its text, 0 if it does not. A
// pointer is planned as one, so its methods are looked at where it leads.
func textKind(t types.Type) model.PlanKind {
	if isOfTime(t) {
		return 0
	}
	if _, isPointer := t.Underlying().(*types.Pointer); isPointer {
		return 0
	}
	if _, isParam := types.Unalias(t).(*types.TypeParam); isParam {
		return 0
	}
	marshalPointer, marshals := ownMethod(t, "MarshalText", nil, textError)
	if !marshals {
		return 0
	}
	if marshalPointer {
		return model.TextAddress
	}
	if p, ok := ownMethod(t, "AppendText", justBytes, textError); ok && !p {
		return model.AppendText
	}
	return model.MarshalText
}
