// Package diag holds what the generator's stages find wrong with a source.
package diag

import (
	"cmp"
	"fmt"
	"go/token"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// A Diagnostic says where something is wrong, what it is, and what to write
// instead.
type Diagnostic struct {
	Position token.Position // Filename is absolute; Column counts bytes from 1
	Message  string
}

// At returns a diagnostic with a formatted message.
func At(position token.Position, format string, args ...any) Diagnostic {
	return Diagnostic{Position: position, Message: fmt.Sprintf(format, args...)}
}

// Sort returns the diagnostics in the order of their places, each once.
func Sort(list []Diagnostic) []Diagnostic {
	slices.SortStableFunc(list, func(a, b Diagnostic) int {
		return cmp.Or(
			strings.Compare(a.Position.Filename, b.Position.Filename),
			cmp.Compare(a.Position.Line, b.Position.Line),
			cmp.Compare(a.Position.Column, b.Position.Column),
			strings.Compare(a.Message, b.Message),
		)
	})
	return slices.CompactFunc(list, func(a, b Diagnostic) bool {
		return place(a.Position) == place(b.Position) && a.Message == b.Message
	})
}

func place(p token.Position) token.Position {
	p.Offset = 0
	return p
}

// Print writes one line a diagnostic, "file:line:col: message", with files
// below dir named from there.
func Print(w io.Writer, dir string, list []Diagnostic) {
	for _, d := range list {
		place := d.Position
		place.Filename = Relative(dir, place.Filename)
		fmt.Fprintf(w, "%s: %s\n", place, d.Message)
	}
}

// Relative names a file from dir, if it is below.
func Relative(dir, file string) string {
	if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return file
}
