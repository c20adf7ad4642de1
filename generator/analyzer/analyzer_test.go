package analyzer

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/idemgen/idem/generator/internal/emit"
)

// analyze returns what is reported of a module with the files, as
// "file:line:col message". A package that does not compile is an error.
func analyze(t *testing.T, files map[string]string) []string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/idemgen/idem"
	files["go.mod"] = fmt.Sprintf("module example.com/m\n\ngo 1.26\n\nrequire %s v0.0.0\n\nreplace %s => %s\n", module, module, root)
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Dir: dir, Tests: true, Env: append(os.Environ(), "GOFLAGS=-mod=mod")}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{Analyzer}, loaded, nil)
	if err != nil {
		t.Fatal(err)
	}
	var reports []string
	for _, action := range graph.Roots {
		if action.Err != nil {
			t.Errorf("%s: %v", action.Package, action.Err)
		}
		for _, d := range action.Diagnostics {
			p := action.Package.Fset.Position(d.Pos)
			name, err := filepath.Rel(dir, p.Filename)
			if err != nil {
				t.Fatal(err)
			}
			reports = append(reports, fmt.Sprintf("%s:%d:%d %s", filepath.ToSlash(name), p.Line, p.Column, d.Message))
		}
	}
	slices.Sort(reports)
	return slices.Compact(reports)
}

const annotated = `package p

type P interface {
	//idem:key id
	Do(id string) error
}
`

const output = emit.Header + "\n\npackage p\n"

func TestAnalyzer(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  []string // beginnings of the reports
	}{
		"nothing of interest": {map[string]string{"p.go": "package p\n"}, nil},
		"a mistake": {
			map[string]string{"p.go": strings.Replace(annotated, "key id", "key idd", 1), "p_idem.go": output},
			[]string{"p.go:4:13 "},
		},
		"a result that is lost": {
			map[string]string{"p.go": "package p\n\ntype T struct{ a int }\n\ntype P interface {\n\t//idem:key id\n\tDo(id string) (T, error)\n}\n"},
			[]string{"p.go:7:17 "},
		},
		"a directive that does not exist": {
			map[string]string{"p.go": strings.Replace(annotated, "key id", "keyy id", 1)},
			[]string{"p.go:4:2 "},
		},
		"a transaction without a context": {
			map[string]string{"p.go": strings.Replace(annotated, "key id", "key id\n\t//idem:tx", 1)},
			[]string{"p.go:5:2 "},
		},
		"a wrapper is missing": {
			map[string]string{"p.go": annotated},
			[]string{"p.go:3:6 p_idem.go, with the wrapper of P, is missing"},
		},
		"a wrapper is stale": {
			map[string]string{"p.go": annotated, "p_idem.go": output},
			[]string{"p.go:3:6 p_idem.go, with the wrapper of P, is stale"},
		},
		"a wrapper that is not ours": {
			map[string]string{"p.go": annotated, "p_idem.go": "package p\n"},
			[]string{"p.go:3:6 the wrapper of P belongs in p_idem.go, which idemgen did not write"},
		},
		"a wrapper is orphaned": {
			map[string]string{"p.go": "package p\n", "p_idem.go": output},
			[]string{"p_idem.go:3:1 p_idem.go is orphaned"},
		},
		"interfaces of tests": {
			map[string]string{
				"p.go": "package p\n", "in_test.go": annotated,
				"out_test.go": "package p_test\n\nimport \"example.com/m\"\n\nvar _ p.P\n\n" + strings.TrimPrefix(annotated, "package p\n"),
			},
			[]string{"in_test.go:3:6 in_idem_test.go, ", "out_test.go:8:6 out_idem_test.go, "},
		},
		"cgo": {
			map[string]string{"p.go": "package p\n\n// int one(void) { return 1; }\nimport \"C\"\n\nvar one = C.one()\n\n" + strings.TrimPrefix(annotated, "package p\n\n")},
			[]string{"p.go:8:6 p_idem.go, "},
		},
		"imports": {
			map[string]string{"p.go": "package p\n\nimport (\n\t\"context\"\n\t_ \"unsafe\"\n)\n\ntype P interface {\n\t//idem:key ctx\n\tDo(ctx context.Context) error\n}\n"},
			[]string{"p.go:9:13 "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := analyze(t, c.files)
			if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
