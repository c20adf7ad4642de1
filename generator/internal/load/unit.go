package load

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
)

// A Unit is a package that somebody else found, such as "go vet", and whose
// imports are type-checked already.
type Unit struct {
	Path      string
	Fset      *token.FileSet
	Files     []string // that are compiled, with what cgo made of some
	Importer  types.Importer
	Sizes     types.Sizes
	GoVersion string
}

// Check type-checks a unit as Packages does it. It returns nil if no file is of
// interest.
func Check(cfg Config, u Unit) (*Package, error) {
	p := &Package{Path: u.Path, Fset: u.Fset}
	var compiled []*ast.File
	mentioned := false
	for _, name := range u.Files {
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		file, err := cfg.parse(u.Fset, name, source)
		if err != nil {
			return nil, err
		}
		compiled = append(compiled, file)
		if cfg.Output(source) {
			continue
		}
		if filepath.Ext(name) != ".go" || strings.HasSuffix(name, ".cgo1.go") {
			// Made by cgo: the user's file is the one that it names in its
			// //line directives, if it has one.
			original := u.Fset.Position(file.Package).Filename
			if text, err := os.ReadFile(original); err == nil {
				name, source = original, text
			}
		}
		whole, err := parser.ParseFile(u.Fset, name, source, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return nil, err
		}
		f := &File{Path: filepath.Clean(name), Syntax: whole, Mentioned: cfg.Mention(source)}
		mentioned = mentioned || f.Mentioned
		p.Files = append(p.Files, f)
	}
	if !mentioned {
		return nil, nil
	}
	config := types.Config{
		Importer:  u.Importer,
		Sizes:     u.Sizes,
		GoVersion: u.GoVersion,
		Error: func(err error) {
			if e, ok := err.(types.Error); ok { //nolint:errorlint // the type checker wraps none
				p.Errors = append(p.Errors, e)
			}
		},
	}
	p.Types, _ = config.Check(u.Path, u.Fset, compiled, nil)
	return p, nil
}
