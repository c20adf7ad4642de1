package repo

import (
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A rule says what the code of a folder may import. A pattern that ends in
// "/..." stands for a folder and all below it. The standard library is free,
// but for what the rule bars.
type rule struct {
	folder  string   // pattern of the importing package
	project []string // patterns of this module's packages
	modules []string // patterns of packages of other modules
	barred  []string // patterns of standard packages
}

// syntax is what a stage that knows only plain data must not see.
var syntax = []string{"go/types", "go/ast", "go/parser", "go/importer", "go/build"}

// arrows holds for each package the first rule that fits. generator and
// runtime never import each other: they meet only in the text of generated
// files, so that a service never links the generator.
var arrows = []rule{
	{
		folder:  "cmd/idemgen",
		project: []string{"generator", "generator/analyzer"},
		modules: []string{"golang.org/x/tools/go/analysis/unitchecker"},
		barred:  syntax,
	},

	{
		folder:  "generator",
		project: []string{"generator/internal/..."},
		modules: []string{"github.com/rogpeppe/go-internal/diff"},
		barred:  syntax,
	},
	{
		folder:  "generator/analyzer",
		project: []string{"generator/internal/..."},
		modules: []string{"golang.org/x/tools/go/..."},
	},
	{
		folder: "generator/internal/inspect",
		project: []string{
			"generator/internal/load", "generator/internal/directive", "generator/internal/analyze", "generator/internal/diag",
		},
		barred: syntax,
	},
	{folder: "generator/internal/model", barred: []string{"go/..."}},
	{folder: "generator/internal/diag", barred: syntax},
	{
		folder:  "generator/internal/load/...",
		project: []string{"generator/internal/diag", "generator/internal/model"},
		modules: []string{"golang.org/x/tools/..."},
	},
	{
		folder:  "generator/internal/directive/...",
		project: []string{"generator/internal/diag"},
		barred:  []string{"go/types"},
	},
	{
		folder: "generator/internal/analyze/...",
		project: []string{
			"generator/internal/analyze/...", "generator/internal/directive",
			"generator/internal/model", "generator/internal/diag",
		},
		modules: []string{"golang.org/x/tools/go/types/..."},
	},
	{
		folder:  "generator/internal/emit/...",
		project: []string{"generator/internal/emit/...", "generator/internal/model"},
		modules: []string{"github.com/dave/jennifer/..."},
		barred:  syntax,
	},
	{
		folder:  "generator/internal/...",
		project: []string{"generator/internal/diag", "generator/internal/model"},
		barred:  []string{"go/types"},
	},

	{folder: "runtime"},
	{
		folder:  "runtime/postgres/...",
		project: []string{"runtime", "runtime/postgres/..."},
		modules: []string{"github.com/jackc/pgx/v5/..."},
	},
	{folder: "runtime/idemtest/...", project: []string{"runtime", "runtime/idemtest/..."}},
	{folder: "runtime/...", project: []string{"runtime"}},

	{
		// Only the program that starts a database, not the service in it.
		folder:  "examples/orders",
		project: []string{"runtime/...", "examples/...", "internal/pgtest"},
		modules: []string{"github.com/jackc/pgx/v5/..."},
	},
	{
		folder:  "examples/...",
		project: []string{"runtime/...", "examples/..."},
		modules: []string{"github.com/jackc/pgx/v5/..."},
	},
	{folder: "internal/...", project: []string{"..."}, modules: []string{"..."}},
}

func TestImportsFollowTheArrows(t *testing.T) {
	walk(t, func(name string) {
		if !isCode(name) || strings.HasPrefix(name, "tools/") {
			return
		}
		folder := path.Dir(name)
		i := slices.IndexFunc(arrows, func(r rule) bool { return fits(r.folder, folder) })
		if i < 0 {
			t.Errorf("%s: no rule says what this folder may import: add one to arrows", name)
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !arrows[i].allows(imported) {
				t.Errorf("%s must not import %s", name, imported)
			}
		}
	})
}

func TestTheArrowsBar(t *testing.T) {
	barred := map[string]string{
		"generator":                modulePath + "/runtime",
		"runtime":                  modulePath + "/runtime/memory",
		"runtime/memory":           "golang.org/x/sync/errgroup",
		"runtime/idemtest":         modulePath + "/runtime/memory",
		"generator/internal/emit":  "go/types",
		"generator/internal/model": "go/token",
		"generator/internal/load":  "github.com/dave/jennifer/jen",
		"examples/payments":        modulePath + "/generator",
		"examples/orders/orders":   modulePath + "/internal/pgtest",
	}
	for folder, imported := range barred {
		i := slices.IndexFunc(arrows, func(r rule) bool { return fits(r.folder, folder) })
		if i < 0 || arrows[i].allows(imported) {
			t.Errorf("%s may import %s", folder, imported)
		}
	}
}

// allows reports whether a package under the rule may import the path.
func (r rule) allows(imported string) bool {
	anyOf := func(patterns []string, p string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool { return fits(pattern, p) })
	}
	if folder, ok := strings.CutPrefix(imported, modulePath+"/"); ok {
		return anyOf(r.project, folder)
	}
	if first, _, _ := strings.Cut(imported, "/"); strings.Contains(first, ".") {
		return anyOf(r.modules, imported)
	}
	return !anyOf(r.barred, imported)
}

// fits reports whether p is what the pattern stands for.
func fits(pattern, p string) bool {
	prefix, below := strings.CutSuffix(pattern, "...")
	if !below {
		return p == pattern
	}
	return strings.HasPrefix(p+"/", prefix)
}
