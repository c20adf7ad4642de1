package lock

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// sources returns the key parts as they are compared.
func (e *Entry) sources() []string {
	var list []string
	for _, p := range e.Parts {
		list = append(list, p.Source)
	}
	return e.numbered(list)
}

// word finds the identifiers in source text, each with the dot before it where
// it is selected from something.
var word = regexp.MustCompile(`\.?\s*[\pL_][\pL_\pN]*`)

// numbered replaces the parameters of the method in source text by their
// numbers: to rename one changes nothing.
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
