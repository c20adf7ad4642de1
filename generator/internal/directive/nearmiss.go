package directive

import (
	"go/ast"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// space is what can stand between words without being seen.
const space = `[\s\p{Z}\p{Cf}]`

var (
	// almost finds what is a directive but for a space, a letter or a block
	// comment too many, in any line of a comment.
	almost = regexp.MustCompile(`(?im)^(?://|/\*)?` + space + `*[/+@*]?` + space + `*(idem)` + space + `*:(` + space + `*)([a-z]*)`)

	// meant finds what nobody writes but as a directive.
	meant = regexp.MustCompile(`(?i)^//idem:(\S+|$)`)

	// separated finds a name that another sign than a colon stands before.
	separated = regexp.MustCompile(`^//idem[\s;.=_-]+([a-z]+)(?:\s|$)`)
)

// nearMiss reports a comment that is no directive though it was meant as one,
// so that a typo never means "not idempotent".
func (p *parser) nearMiss(c *ast.Comment) {
	if m := separated.FindStringSubmatch(c.Text); m != nil && specs[m[1]].usage != "" {
		p.missed(p.position(c.Slash), m[1])
		return
	}
	for _, m := range almost.FindAllStringSubmatchIndex(c.Text, -1) {
		pos := p.position(c.Slash)
		if before := c.Text[:m[2]]; strings.Contains(before, "\n") {
			// A block comment whose text has lost its carriage returns.
			pos.Line += strings.Count(before, "\n")
			pos.Column = len(before) - strings.LastIndex(before, "\n")
			pos.Offset = 0
		}
		spaced, word := m[4] < m[5], strings.ToLower(c.Text[m[6]:m[7]])
		// Prose has a space there, and says names or keys.
		if name, distance := nearest(word); distance == 0 || distance == 1 && !spaced && len(word) > 1 {
			p.missed(pos, name)
			return
		}
	}
	if m := meant.FindStringSubmatch(c.Text); m != nil {
		p.unknown(p.position(c.Slash), m[1])
	}
}

func (p *parser) missed(pos token.Position, name string) {
	p.keyed = p.keyed || name == "key"
	p.report(pos, "this comment looks like a directive but is none: write //idem:%s, in a line comment, "+
		"in lower case and without spaces before the name", name)
}

// unknown reports a directive that there is none of, and names the one that was
// probably meant.
func (p *parser) unknown(pos token.Position, name string) {
	letters := strings.ToLower(name)
	if i := strings.IndexAny(letters, "=(:,"); i > 0 {
		letters = letters[:i]
	}
	near, distance := nearest(letters)
	if distance > 2 || len(letters) <= distance {
		p.report(pos, "unknown directive //idem:%s; known are %s", name, strings.Join(slices.Sorted(maps.Keys(specs)), ", "))
		return
	}
	p.keyed = p.keyed || near == "key"
	arguments := ", followed by a space and its arguments"
	if specs[near].check("") == "" {
		arguments = ""
	}
	p.report(pos, "unknown directive //idem:%s; did you mean //idem:%s%s?", name, near, arguments)
}

// nearest returns the directive whose name takes the fewest changes of a
// letter to become name.
func nearest(name string) (near string, distance int) {
	distance = len(name) + 1
	for _, known := range slices.Sorted(maps.Keys(specs)) {
		if d := changes(name, known); d < distance {
			near, distance = known, d
		}
	}
	return near, distance
}

// changes is the Levenshtein distance of a and b.
func changes(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
