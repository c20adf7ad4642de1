package emit

import (
	"strings"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"
)

// comment prints text as a comment of lines that are at most 80 wide where
// the words allow it.
func comment(text string) *jen.Statement { return wrapped(strings.Fields(text)) }

// wrapped prints words, each of which may hold spaces of its own, as a comment.
func wrapped(words []string) *jen.Statement {
	const width = 80
	lines := []string{"//"}
	for _, word := range words {
		last := len(lines) - 1
		if lines[last] != "//" && utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, "//")
			last++
		}
		lines[last] += " " + word
	}
	return jen.Comment(strings.Join(lines, "\n"))
}

// enumeration is items as English lists them.
func enumeration(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " and " + items[last]
}
