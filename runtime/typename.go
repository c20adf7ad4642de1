package idem

import (
	"reflect"
	"strconv"
	"strings"
)

// TypeName returns the name of T with full import paths, which two different
// types of one program never share. Generated code for generic interfaces makes
// it a part of the operation's name.
//
// The name of a type that is declared inside a function ends in a number that
// the compiler gives, and that changes as the package does: keys that are to
// outlive a deployment need types of a package.
func TypeName[T any]() string {
	// Reflection calls the types that two functions declare by one name. As
	// arguments of a type they have numbers.
	if name := reflect.TypeFor[instance[T]]().Name(); strings.Contains(name, "·") {
		return strings.TrimSuffix(strings.TrimPrefix(name, "instance["), "]")
	}
	return typeName(reflect.TypeFor[T]())
}

type instance[T any] struct{}

func typeName(t reflect.Type) string {
	if t.Name() != "" {
		return qualified(t.PkgPath(), t.Name())
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

// qualified returns a name as the package says it that has it to itself; what
// is exported or predeclared has no such package.
func qualified(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func funcName(t reflect.Type) string {
	var in, out []string
	for p := range t.Ins() {
		in = append(in, typeName(p))
	}
	if t.IsVariadic() {
		in[len(in)-1] = "..." + typeName(t.In(len(in)-1).Elem())
	}
	for p := range t.Outs() {
		out = append(out, typeName(p))
	}
	return "(" + strings.Join(in, ",") + ")(" + strings.Join(out, ",") + ")"
}

func structName(t reflect.Type) string {
	var fields []string
	for f := range t.Fields() {
		// A field that is embedded through an alias has the alias's name.
		s := qualified(f.PkgPath, f.Name) + " " + typeName(f.Type)
		if f.Anonymous {
			s = "=" + s
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
		methods = append(methods, qualified(m.PkgPath, m.Name)+funcName(m.Type))
	}
	return "interface{" + strings.Join(methods, ";") + "}"
}
