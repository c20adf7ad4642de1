package lock

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// sources returns the key parts as they are written.
func (e *Entry) sources() []string {
	var list []string
	for _, p := range e.Parts {
		list = append(list, p.Source)
	}
	return list
}

// same tells for each of two lists of sources, as far as both go, whether they
// name the same value: parameters can be renamed, and stand in another order.
func (e *Entry) same(now *Entry, was, is []string) []bool {
	numbered, numberedNow := e.numbered(was), now.numbered(is)
	var list []bool
	for i := range min(len(was), len(is)) {
		list = append(list, was[i] == is[i] || numbered[i] == numberedNow[i])
	}
	return list
}

// permuted reports whether two lists are one in different orders.
func permuted(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// word finds the identifiers in source text, each with the dot before it where
// it is selected from something.
var word = regexp.MustCompile(`\.?\s*[\pL_][\pL_\pN]*`)

// numbered replaces the parameters of the method in source text by their
// numbers.
func (e *Entry) numbered(sources []string) []string {
	_, list, _ := strings.Cut(strings.TrimSuffix(e.Method, ")"), "(")
	params := strings.Split(list, ",")
	var out []string
	for _, source := range sources {
		out = append(out, word.ReplaceAllStringFunc(source, func(name string) string {
			if i := slices.Index(params, name); i >= 0 {
				return "$" + strconv.Itoa(i+1)
			}
			return name
		}))
	}
	return out
}

var fieldName = regexp.MustCompile(`[\pL_][\pL_\pN]*:`)

// renamed reports whether two encodings of key parts differ in names of fields
// alone, which the bytes do not hold, and not in their order.
func renamed(was, is string) bool {
	if fieldName.ReplaceAllString(was, "") != fieldName.ReplaceAllString(is, "") {
		return false
	}
	sorted := func(s string) []string { return slices.Sorted(slices.Values(fieldName.FindAllString(s, -1))) }
	return !slices.Equal(sorted(was), sorted(is))
}
