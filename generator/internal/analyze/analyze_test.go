package analyze

import (
	"bytes"
	"errors"
	"flag"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/idemgen/idem/generator/internal/directive"
)

var update = flag.Bool("update", false, "rewrite what the cases in testdata expect")

// Each archive in testdata is a package with the diagnostics that it must give
// and, if it gives none but notes, the model that it must give. Prose on top
// says what it pins.
func TestCheck(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := checkArchive(archive)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				archive.Files = append(sourcesOf(archive), got...)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			var want []txtar.File
			for _, f := range archive.Files {
				if isExpectation(f.Name) {
					want = append(want, f)
				}
			}
			wanted := txtar.Format(&txtar.Archive{Files: want})
			if text := txtar.Format(&txtar.Archive{Files: got}); !bytes.Equal(text, wanted) {
				t.Errorf("got (-update writes it to %s)\n%s\nwant\n%s", file, text, wanted)
			}
		})
	}
}

func isExpectation(name string) bool { return name == "want" || name == "model" }

func sourcesOf(a *txtar.Archive) []txtar.File {
	var sources []txtar.File
	for _, f := range a.Files {
		if !isExpectation(f.Name) {
			sources = append(sources, f)
		}
	}
	return sources
}

// checkArchive checks the package example.com/p that the archive's files
// without a folder are, and returns what that should give, as an archive has it.
func checkArchive(a *txtar.Archive) ([]txtar.File, error) {
	l := newLoader(sourcesOf(a))
	pkg, problems, err := l.load()
	if err != nil {
		return nil, err
	}
	result := Check(pkg)
	problems = append(problems, l.lines("", result.Problems)...)
	said := append(problems, l.lines("note: ", result.Notes)...)
	var out []txtar.File
	if len(said) > 0 {
		out = append(out, txtar.File{Name: "want", Data: []byte(strings.Join(said, "\n") + "\n")})
	}
	if len(problems) == 0 {
		out = append(out, txtar.File{Name: "model", Data: []byte(dump(result.Files))})
	}
	return out, nil
}

// A loader type-checks the packages of an archive: those in folders, whose path
// is the folder below example.com/p or, if its first element has a dot, the
// folder itself; and packages of the standard library.
type loader struct {
	fset    *token.FileSet
	sources map[string][]txtar.File // by import path, in the order of the archive
	loaded  map[string]*types.Package
	errors  []types.Error // of example.com/p
}

const root = "example.com/p"

func newLoader(sources []txtar.File) *loader {
	l := &loader{fset: token.NewFileSet(), sources: map[string][]txtar.File{}, loaded: map[string]*types.Package{}}
	for _, f := range sources {
		dir := path.Dir(f.Name)
		if first, _, _ := strings.Cut(dir, "/"); dir == "." || !strings.Contains(first, ".") {
			dir = path.Join(root, dir)
		}
		l.sources[dir] = append(l.sources[dir], f)
	}
	return l
}

// standard is shared by all tests, because it is slow to read.
var (
	standard = importer.Default()
	reading  sync.Mutex
)

// Import implements types.Importer.
func (l *loader) Import(path string) (*types.Package, error) {
	sources, ok := l.sources[path]
	switch {
	case l.loaded[path] != nil:
		return l.loaded[path], nil
	case path == "unsafe":
		return types.Unsafe, nil
	case !ok:
		reading.Lock()
		defer reading.Unlock()
		return standard.Import(path)
	}
	files, err := l.parse(sources)
	if err != nil {
		return nil, err
	}
	config := types.Config{Importer: l, FakeImportC: true, Error: func(err error) {
		if e, ok := errors.AsType[types.Error](err); ok && path == root {
			l.errors = append(l.errors, e)
		}
	}}
	pkg, err := config.Check(path, l.fset, files, nil)
	if err != nil && path != root {
		return nil, err
	}
	l.loaded[path] = pkg
	return pkg, nil
}

func (l *loader) parse(sources []txtar.File) ([]*ast.File, error) {
	var files []*ast.File
	for _, f := range sources {
		file, err := parser.ParseFile(l.fset, f.Name, f.Data, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// load returns the package to check, and the problems with its directives. The
// files that are checked are parsed apart from those that the types come from,
// as they are at work.
func (l *loader) load() (*Package, []string, error) {
	pkg, err := l.Import(root)
	if err != nil {
		return nil, nil, err
	}
	files, err := l.parse(l.sources[root])
	if err != nil {
		return nil, nil, err
	}
	out := &Package{Path: root, Types: pkg, Fset: l.fset, Errors: l.errors}
	var problems []string
	for i, f := range files {
		methods, found := directive.Parse(l.fset, f)
		problems = append(problems, l.lines("", found)...)
		out.Files = append(out.Files, File{Path: l.sources[root][i].Name, Syntax: f, Methods: methods})
	}
	return out, problems, nil
}

// source makes an archive of one file.
func source(text string) *txtar.Archive {
	return &txtar.Archive{Files: []txtar.File{{Name: "p.go", Data: []byte(text)}}}
}

// said returns what is wrong with a source of one file.
func said(t *testing.T, text string) string {
	t.Helper()
	got, err := checkArchive(source(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range got {
		if f.Name == "want" {
			return string(f.Data)
		}
	}
	return ""
}
