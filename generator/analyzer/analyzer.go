// Package analyzer makes the checks of idemgen available to whatever runs
// analyzers: go vet, an editor, a linter.
//
// It reports mistakes in directives, keys and results where idemgen would, and
// wrappers that are missing, stale or orphaned. It writes nothing, and does not
// look at idem.lock.
package analyzer

import (
	"bytes"
	"fmt"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/idemgen/idem/generator/internal/directive"
	"github.com/idemgen/idem/generator/internal/emit"
	"github.com/idemgen/idem/generator/internal/inspect"
	"github.com/idemgen/idem/generator/internal/load"
	"github.com/idemgen/idem/generator/internal/model"
)

// Analyzer checks annotated interfaces and their wrappers.
var Analyzer = &analysis.Analyzer{
	Name: "idem",
	Doc: "check //idem: directives and the wrappers that idemgen made of them\n\n" +
		"Reported are directives that mean nothing, keys without a stable encoding, results that a\n" +
		"replay would not bring back whole, and wrappers that are missing, stale or orphaned.",
	URL: "https://github.com/idemgen/idem",
	Run: run,
}

func run(pass *analysis.Pass) (any, error) {
	cfg := load.Config{Mention: directive.Mentions, Output: emit.IsOutput}
	// The go command calls a package with its tests "p [p.test]".
	path, _, _ := strings.Cut(pass.Pkg.Path(), " ")
	unit := load.Unit{
		Path: path, Fset: pass.Fset, Importer: importsOf(pass.Pkg),
		Sizes: pass.TypesSizes, GoVersion: pass.Pkg.GoVersion(),
	}
	for _, f := range pass.Files {
		unit.Files = append(unit.Files, pass.Fset.File(f.FileStart).Name())
	}
	p, err := load.Check(cfg, unit)
	if err != nil {
		return nil, err
	}
	var outputs []model.File
	if p != nil {
		checked := inspect.Package(p)
		for _, d := range checked.Problems {
			pass.Reportf(find(pass.Fset, d.Position), "%s", d.Message)
		}
		if len(checked.Problems) > 0 {
			return nil, nil
		}
		outputs = checked.Files
	}
	return nil, compare(pass, outputs)
}

// compare reports where the wrappers on disk are not what they should be.
func compare(pass *analysis.Pass, outputs []model.File) error {
	texts, err := emit.Files(outputs)
	if err != nil {
		return err
	}
	current := map[string]bool{}
	for i, o := range outputs {
		current[o.Path] = true
		name, of := filepath.Base(o.Path), o.Interfaces[0]
		at := find(pass.Fset, token.Position{Filename: of.Position.File, Line: of.Position.Line, Column: of.Position.Column})
		switch text, err := os.ReadFile(o.Path); {
		case os.IsNotExist(err):
			pass.Reportf(at, "%s, with the wrapper of %s, is missing: run idemgen", name, of.Name)
		case err != nil:
			return err
		case !emit.IsOutput(text):
			pass.Reportf(at, "the wrapper of %s belongs in %s, which idemgen did not write: rename one of the two files", of.Name, name)
		case !bytes.Equal(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), texts[i]):
			pass.Reportf(at, "%s, with the wrapper of %s, is stale: run idemgen", name, of.Name)
		}
	}
	for _, f := range pass.Files {
		name := pass.Fset.File(f.FileStart).Name()
		if current[name] {
			continue
		}
		if text, err := os.ReadFile(name); err != nil {
			return err
		} else if emit.IsOutput(text) {
			pass.Reportf(f.Package, "%s is orphaned: what it was made from has no directive any more, or is gone: run idemgen", filepath.Base(name))
		}
	}
	return nil
}

// find returns the place of a position in the sources.
func find(fset *token.FileSet, p token.Position) (pos token.Pos) {
	fset.Iterate(func(f *token.File) bool {
		if f.Name() != p.Filename || p.Line < 1 || p.Line > f.LineCount() {
			return true
		}
		pos = f.LineStart(p.Line) + token.Pos(max(p.Column-1, 0))
		return false
	})
	return pos
}

// importsOf imports what a package and its imports were checked with.
func importsOf(pkg *types.Package) types.Importer {
	known := imported{}
	known.add(pkg)
	return known
}

type imported map[string]*types.Package

func (known imported) add(pkg *types.Package) {
	for _, p := range pkg.Imports() {
		if known[p.Path()] == nil {
			known[p.Path()] = p
			known.add(p)
		}
	}
}

func (known imported) Import(path string) (*types.Package, error) {
	if p := known[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s is not imported", path)
}
