// Package load finds the packages that have directives and type-checks them.
//
// Only those are type-checked, from source and against the export data of what
// they import. Function bodies are dropped and the generator's own earlier
// outputs blanked, so that code which uses a wrapper that does not exist yet,
// or no longer fits, does not stand in the way of making it.
package load

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/idemgen/idem/generator/internal/diag"
)

// A Config says where and how to load.
type Config struct {
	Dir     string                   // in which patterns are resolved
	Tags    string                   // build tags, separated by commas
	Mention func(source []byte) bool // whether a file is of interest
	Output  func(source []byte) bool // whether a file is an earlier output
}

// A Result is what a load found.
type Result struct {
	Packages []*Package
	Matched  []Place // all packages that the patterns name, by import path

	// Outputs are the earlier outputs in the matched packages, as far as they
	// belong to the current build configuration.
	Outputs []string

	// Problems are syntax errors.
	Problems []diag.Diagnostic
}

// A Place is where a package is.
type Place struct {
	Path string // import path
	Dir  string // absolute
}

// A Package is a package, or one with its test files, in which a file is of
// interest.
type Package struct {
	Path   string // import path
	Types  *types.Package
	Fset   *token.FileSet
	Files  []*File
	Errors []types.Error // of the type check, most of which concern nobody
}

// A File is a source file as it is on disk, even where the type checker saw
// what cgo made of it.
type File struct {
	Path      string
	Syntax    *ast.File
	Mentioned bool
}

// Packages loads the packages that the patterns name. The go command lists them
// once, together with the export data of all that they import.
func Packages(cfg Config, patterns ...string) (*Result, error) {
	listed, err := cfg.list(patterns)
	if err != nil {
		return nil, err
	}
	result := &Result{}
	wanted, err := scan(cfg, listed, result)
	if err != nil {
		return nil, err
	}
	shared := &exports{cfg, token.NewFileSet(), map[string]*types.Package{}}
	for _, p := range listed {
		if wanted[subjectOf(p)] != p.ID {
			continue
		}
		im := shared
		if p.ID != p.PkgPath {
			im = shared.forTests()
		}
		if err := im.check(p); err != nil {
			return nil, err
		}
		if err := result.add(cfg, p); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(result.Packages, func(a, b *Package) int { return strings.Compare(a.Path, b.Path) })
	return result, nil
}

// list asks the go command for the packages.
func (cfg Config) list(patterns []string) ([]*packages.Package, error) {
	if i := slices.IndexFunc(patterns, func(p string) bool { return strings.HasSuffix(p, ".go") }); i >= 0 {
		return nil, fmt.Errorf("%s is a file: name the folder of its package", patterns[i])
	}
	listed, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedExportFile | packages.NeedTypesSizes | packages.NeedModule,
		Dir:        cfg.Dir,
		BuildFlags: cfg.flags(),
		Tests:      true,
	}, patterns...)
	if err == nil && len(listed) == 0 {
		err = fmt.Errorf("no packages match %s", strings.Join(patterns, " "))
	}
	return listed, err
}

func (cfg Config) flags() []string {
	if cfg.Tags == "" {
		return nil
	}
	return []string{"-tags=" + cfg.Tags}
}

// A subject is a package, with or without its tests, or the external tests of
// one.
type subject struct {
	path  string // to ask the go command for
	tests bool   // the external ones
}

func subjectOf(p *packages.Package) subject {
	_, of, variant := strings.Cut(p.ID, " [")
	if !variant {
		return subject{path: p.PkgPath}
	}
	of = strings.TrimSuffix(of, ".test]")
	return subject{of, p.PkgPath != of}
}

// scan looks into the files of the listed packages for what is of interest. It
// returns the IDs of those to type-check: that of the one with its test files,
// if one of these is of interest.
func scan(cfg Config, listed []*packages.Package, result *Result) (map[subject]string, error) {
	wanted := map[subject]string{}
	mentioned := map[string]bool{}
	outputs := map[string]bool{}
	for _, p := range listed {
		for _, e := range p.Errors {
			if e.Kind == packages.ListError && len(p.GoFiles) == 0 && !strings.Contains(e.Msg, "build constraints exclude all Go files") {
				return nil, fmt.Errorf("%s: %s", p.PkgPath, e.Msg)
			}
		}
		if strings.HasSuffix(p.ID, ".test") && len(p.GoFiles) == 1 && filepath.Dir(p.GoFiles[0]) != p.Dir {
			continue // the main package of a test, which the go command made
		}
		tests := p.ID != p.PkgPath
		if !tests && p.Dir != "" {
			result.Matched = append(result.Matched, Place{p.PkgPath, p.Dir})
		}
		for _, name := range p.GoFiles {
			if _, seen := mentioned[name]; !seen {
				source, err := os.ReadFile(name)
				if err != nil {
					return nil, err
				}
				output := cfg.Output(source)
				if output {
					outputs[name] = true
				}
				mentioned[name] = !output && cfg.Mention(source)
			}
			if !mentioned[name] {
				continue
			}
			// A plain file makes its plain package wanted, a test file the
			// package with tests, which holds the plain files as well.
			isTest := strings.HasSuffix(name, "_test.go")
			if s := subjectOf(p); isTest == tests && (wanted[s] == "" || tests) {
				wanted[s] = p.ID
			}
		}
	}
	result.Outputs = slices.Sorted(maps.Keys(outputs))
	slices.SortFunc(result.Matched, func(a, b Place) int { return strings.Compare(a.Path, b.Path) })
	return wanted, nil
}

// parse drops what no signature depends on: the bodies of functions, and all
// that an earlier output declares.
func (cfg Config) parse(fset *token.FileSet, name string, source []byte) (*ast.File, error) {
	mode := parser.SkipObjectResolution | parser.ParseComments
	if cfg.Output(source) {
		mode = parser.PackageClauseOnly
	}
	file, err := parser.ParseFile(fset, name, source, mode)
	if file != nil {
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
				// A loop without end needs no return.
				forever := &ast.ForStmt{For: f.Body.Lbrace, Body: &ast.BlockStmt{Lbrace: f.Body.Lbrace, Rbrace: f.Body.Lbrace}}
				f.Body = &ast.BlockStmt{Lbrace: f.Body.Lbrace, List: []ast.Stmt{forever}, Rbrace: f.Body.Rbrace}
			}
		}
	}
	return file, err
}

// add turns what was loaded into a Package, unless it has syntax errors.
func (r *Result) add(cfg Config, p *packages.Package) error {
	broken := false
	for _, e := range p.Errors {
		if e.Kind == packages.ParseError {
			broken = true
			r.Problems = append(r.Problems, diag.Diagnostic{Position: position(e.Pos), Message: e.Msg})
		}
	}
	if broken {
		return nil
	}
	out := &Package{Path: p.PkgPath, Types: p.Types, Fset: p.Fset, Errors: p.TypeErrors}
	// The go command lists files that use cgo behind the others.
	for _, name := range slices.Sorted(slices.Values(p.GoFiles)) {
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if cfg.Output(source) {
			continue
		}
		file, err := parser.ParseFile(p.Fset, name, source, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		out.Files = append(out.Files, &File{Path: name, Syntax: file, Mentioned: cfg.Mention(source)})
	}
	r.Packages = append(r.Packages, out)
	return nil
}

// position reads "file:line:col" as go/packages writes it.
func position(s string) (pos token.Position) {
	rest := s
	var numbers []int
	for range 2 {
		i := strings.LastIndex(rest, ":")
		if i < 0 {
			break
		}
		var n int
		if _, err := fmt.Sscanf(rest[i+1:], "%d", &n); err != nil {
			break
		}
		numbers, rest = append(numbers, n), rest[:i]
	}
	pos.Filename = rest
	if !filepath.IsAbs(rest) {
		if abs, err := filepath.Abs(rest); err == nil {
			pos.Filename = abs
		}
	}
	switch len(numbers) {
	case 2:
		pos.Line, pos.Column = numbers[1], numbers[0]
	case 1:
		pos.Line = numbers[0]
	}
	return pos
}
