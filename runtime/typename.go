package idem

import (
	"reflect"
	"strconv"
	"strings"
)

// TypeName returns the name of T with full import paths, which two different
// types never share. Generated code for generic interfaces makes it a part of
// the operation's name.
func TypeName[T any]() string { return typeName(reflect.TypeFor[T]()) }

func typeName(t reflect.Type) string {
	if t.Name() != "" {
		if t.PkgPath() == "" {
			return t.Name()
		}
		return t.PkgPath() + "." + t.Name()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + typeName(t.Elem())
	case reflect.Slice:
		return "[]" + typeName(t.Elem())
	case reflect.Array:
		return "[" + strconv.Itoa(t.Len()) + "]" + typeName(t.Elem())
	case reflect.Map:
		return "map[" + typeName(t.Key()) + "]" + typeName(t.Elem())
	case reflect.Chan:
		return t.ChanDir().String() + "(" + typeName(t.Elem()) + ")"
	case reflect.Func:
		return "func" + funcName(t)
	case reflect.Struct:
		return structName(t)
	default:
		return interfaceName(t)
	}
}

func funcName(t reflect.Type) string {
	var in, out []string
	for p := range t.Ins() {
		in = append(in, typeName(p))
	}
	if t.IsVariadic() {
		in[len(in)-1] = "..." + in[len(in)-1]
	}
	for p := range t.Outs() {
		out = append(out, typeName(p))
	}
	return "(" + strings.Join(in, ",") + ")(" + strings.Join(out, ",") + ")"
}

func structName(t reflect.Type) string {
	var fields []string
	for f := range t.Fields() {
		s := typeName(f.Type)
		if !f.Anonymous {
			s = f.Name + " " + s
		}
		if f.Tag != "" {
			s += " " + strconv.Quote(string(f.Tag))
		}
		fields = append(fields, s)
	}
	return "struct{" + strings.Join(fields, ";") + "}"
}

func interfaceName(t reflect.Type) string {
	var methods []string
	for m := range t.Methods() {
		methods = append(methods, m.PkgPath+m.Name+funcName(m.Type))
	}
	return "interface{" + strings.Join(methods, ";") + "}"
}
