package directive

import (
	"bytes"
	"regexp"
)

// Mentions reports whether a source can hold anything that this package would
// speak of. It is quick, and right when it says no.
func Mentions(source []byte) bool {
	for i := range len(source) - len(tool) + 1 {
		if source[i]|0x20 != tool[0] || !bytes.EqualFold(source[i:i+len(tool)], []byte(tool)) {
			continue
		}
		start := bytes.LastIndexByte(source[:i], '\n') + 1
		line, _, _ := bytes.Cut(source[start:], []byte("\n"))
		if mention.Match(line) {
			return true
		}
	}
	return false
}

// mention finds lines that can hold a directive, or be almost one.
var mention = regexp.MustCompile(`(?i)(?:^|//|/\*)` + space + `*[/+@*]?` + space + `*idem` + space + `*:|//idem[\s;.=_-]`)
