package emit

import (
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file decides every identifier of an output, and nothing else does. Its
// functions are pure: they get the names that are spoken for and what a new
// name should preferably be.

// names is a set of identifiers that a new one must not repeat.
type names map[string]bool

// newNames returns the set of all the names in the lists.
func newNames(lists ...[]string) names {
	n := names{}
	for _, list := range lists {
		for _, name := range list {
			n[name] = true
		}
	}
	return n
}

// fresh takes and returns wanted, or else wanted with the lowest number from 2
// on that makes it free. A keyword is never free.
func (n names) fresh(wanted string) string {
	name := wanted
	for i := 2; n[name] || token.IsKeyword(name); i++ {
		name = wanted + strconv.Itoa(i)
	}
	n[name] = true
	return name
}

// predeclared holds the names of the universe.
var predeclared = newNames(strings.Fields(`
	any bool byte comparable complex64 complex128 error float32 float64
	int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr
	true false iota nil
	append cap clear close complex copy delete imag len make max min new
	panic print println real recover
`))

// An importWant is a package that an output mentions.
type importWant struct {
	path      string
	preferred string
	avoid     names // parameters of the functions whose bodies mention it
}

// importNames gives each package a name. It gives way to what the package
// scope declares, to the universe and to the parameters in avoid, so that all
// of those can keep theirs.
func importNames(wants []importWant, declared names) map[string]string {
	taken := maps.Clone(declared)
	maps.Copy(taken, predeclared)
	taken["init"] = true // "cannot import package as init"
	result := map[string]string{}
	slices.SortFunc(wants, func(a, b importWant) int { return strings.Compare(a.path, b.path) })
	for _, w := range wants {
		// A name that only this package must avoid stays free for others.
		here := maps.Clone(taken)
		maps.Copy(here, w.avoid)
		name := here.fresh(w.preferred)
		taken[name] = true
		result[w.path] = name
	}
	return result
}

// assumedName is the name that a reader, and goimports, expect a package to
// have from its path alone.
func assumedName(importPath string) string {
	base := path.Base(importPath)
	if v, ok := strings.CutPrefix(base, "v"); ok && path.Dir(importPath) != "." {
		if _, err := strconv.Atoi(v); err == nil {
			return path.Base(path.Dir(importPath))
		}
	}
	return base
}

// typeParameterNames keeps the names of type parameters, other than blank ones
// and those that would hide a name of the package scope or of the universe.
func typeParameterNames(source []string, declared names) []string {
	hidden := maps.Clone(declared)
	maps.Copy(hidden, predeclared)
	fallback := slices.Repeat([]string{"T"}, len(source))
	return parameterNames(source, fallback, hidden)
}

// parameterNames gives the parameters of a function their names. A parameter
// keeps the name it has in the source; one that has none, or a blank one, gets
// its fallback; one that would hide a name in hidden, which the body mentions,
// is numbered.
func parameterNames(source, fallback []string, hidden names) []string {
	taken := maps.Clone(hidden)
	result := make([]string, len(source))
	for i, name := range source {
		if name != "" && name != "_" && !taken[name] {
			result[i] = name
			taken[name] = true
		}
	}
	// The source's names are all reserved before any new one is made up.
	for i, name := range source {
		switch {
		case result[i] != "":
		case name == "" || name == "_":
			result[i] = taken.fresh(fallback[i])
		default:
			result[i] = taken.fresh(name)
		}
	}
	return result
}

// fieldNames gives a struct its fields. They avoid methods, because a type
// cannot have a field and a method of one name.
func fieldNames(wanted, methods []string) []string {
	taken := newNames(methods)
	result := make([]string, len(wanted))
	for i, w := range wanted {
		result[i] = taken.fresh(w)
	}
	return result
}

// exportedNames gives a struct exported fields that are called after source,
// or by fallback where that cannot be exported.
func exportedNames(source, fallback []string) []string {
	taken := names{}
	result := make([]string, len(source))
	for i, name := range source {
		name = upperFirst(strings.TrimLeft(name, "_"))
		if !token.IsExported(name) {
			name = fallback[i]
		}
		result[i] = taken.fresh(name)
	}
	return result
}

// unexported lowers the first word of name: Charge is charge, URLFor is urlFor
// and ID is id.
func unexported(name string) string {
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsUpper(r) || i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1]) {
			break
		}
		runes[i] = unicode.ToLower(r)
	}
	return string(runes)
}

// upperFirst raises the first letter of name.
func upperFirst(name string) string {
	if name == "" {
		return ""
	}
	r, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(r)) + name[size:]
}
