package repo

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/idemgen/idem/generator"
)

// A snippet is a fenced block of Go in a document.
type snippet struct {
	file string
	line int // of its first line in the document
	from string
	text string
}

// fence matches a block of Go, with the comment before it that names the file
// it is an excerpt of, if there is one.
var fence = regexp.MustCompile("(?ms)(?:^<!-- ([^\n ]+) -->\n)?^```go\n(.*?)^```$")

// documents returns the documents whose snippets are checked.
func documents(t *testing.T) []string {
	t.Helper()
	var found []string
	walk(t, func(name string) {
		if dir := path.Dir(name); strings.HasSuffix(name, ".md") && (dir == "." || dir == "docs") {
			found = append(found, name)
		}
	})
	return found
}

func snippets(t *testing.T) []snippet {
	t.Helper()
	var found []snippet
	for _, name := range documents(t) {
		document := text(t, name)
		for _, m := range fence.FindAllStringSubmatchIndex(document, -1) {
			s := snippet{file: name, line: 1 + strings.Count(document[:m[4]], "\n"), text: document[m[4]:m[5]]}
			if m[2] >= 0 {
				s.from = document[m[2]:m[3]]
			}
			found = append(found, s)
		}
	}
	return found
}

// An excerpt of a file of this repository stands there line by line; "// …"
// stands for lines left out.
func TestExcerptsAreInTheFilesThatTheyName(t *testing.T) {
	for _, s := range snippets(t) {
		if s.from == "" {
			continue
		}
		rest := trimmedLines(text(t, s.from))
		for piece := range strings.SplitSeq(trimmedLines(s.text), "\n// …\n") {
			_, after, found := strings.Cut(rest, "\n"+strings.Trim(piece, "\n")+"\n")
			if !found {
				t.Errorf("%s:%d: this is not in %s:\n%s", s.file, s.line, s.from, piece)
				break
			}
			rest = "\n" + after
		}
	}
}

// trimmedLines returns s without what differs between a document and a file:
// the indentation of its lines.
func trimmedLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return "\n" + strings.Join(lines, "\n") + "\n"
}

// known are the packages that a snippet can use without importing them.
var known = map[string]string{
	"context":  "context",
	"errors":   "errors",
	"fmt":      "fmt",
	"http":     "net/http",
	"log":      "log",
	"os":       "os",
	"slog":     "log/slog",
	"synctest": "testing/synctest",
	"testing":  "testing",
	"time":     "time",

	"idem":     modulePath + "/runtime",
	"idemtest": modulePath + "/runtime/idemtest",
	"memory":   modulePath + "/runtime/memory",
	"orders":   modulePath + "/examples/orders/orders",
	"pgx":      "github.com/jackc/pgx/v5",
	"pgxpool":  "github.com/jackc/pgx/v5/pgxpool",
	"postgres": modulePath + "/runtime/postgres",
	"payments": modulePath + "/examples/payments/payments",
}

// given are the names that a snippet can use without declaring them.
var given = map[string]string{
	"ctx":     "var ctx context.Context",
	"err":     "var err error",
	"pool":    "var pool *pgxpool.Pool",
	"req":     "var req payments.ChargeRequest",
	"service": "var service payments.Payments",
	"store":   "var store *idem.Store",

	"ChargeRequest":         "type ChargeRequest = payments.ChargeRequest",
	"Money":                 "type Money = payments.Money",
	"Receipt":               "type Receipt = payments.Receipt",
	"NewIdempotentPayments": "var NewIdempotentPayments = payments.NewIdempotentPayments",
	"chargeCard":            "func chargeCard(context.Context, ChargeRequest) (_ Receipt, _ error) { return }",
	"tenant":                "func tenant(context.Context) (_ string, _ error) { return }",
	"stripePayments":        "var stripePayments payments.Payments",
}

func TestSnippetsCompile(t *testing.T) {
	imports := importerOf(t, slices.Sorted(maps.Values(known)))
	for _, s := range snippets(t) {
		if s.from != "" {
			continue
		}
		for _, err := range check(s, imports) {
			t.Error(err)
		}
	}
}

// A snippet with directives is not only Go: the generator accepts it.
func TestAnnotatedSnippetsGetWrappers(t *testing.T) {
	for _, s := range snippets(t) {
		if s.from != "" || !strings.Contains(s.text, "//idem:key ") {
			continue
		}
		dir := clientModule(t)
		var file strings.Builder
		file.WriteString("package snippet\n")
		for _, name := range slices.Sorted(maps.Keys(known)) {
			if strings.Contains(s.text, name+".") {
				file.WriteString("import " + name + " " + strconv.Quote(known[name]) + "\n")
			}
		}
		file.WriteString(s.text)
		for _, name := range []string{"ChargeRequest", "Receipt"} {
			file.WriteString(given[name] + "\n")
		}
		write(t, dir, "snippet.go", file.String())
		result, err := generator.Generate(generator.Options{Dir: dir, Packages: []string{"."}})
		switch {
		case err != nil:
			t.Errorf("%s:%d: %v", s.file, s.line, err)
		case len(result.Diagnostics) > 0 || len(result.Outputs) != 1:
			t.Errorf("%s:%d: %v, and %d wrappers", s.file, s.line, result.Diagnostics, len(result.Outputs))
		}
	}
}

func TestSnippetsThatDoNotCompileAreFound(t *testing.T) {
	imports := importerOf(t, slices.Sorted(maps.Values(known)))
	for text, fine := range map[string]bool{
		"receipt, err := service.Charge(ctx, req)":   true,
		"func f() error { return store.Close(ctx) }": true,
		"package main\n\nfunc main() { println(1) }": true,
		"receipt, err := service.Charge(ctx)":        false,
		"func f() error { return store.Shut(ctx) }":  false,
		"package main\n\nfunc main() { absent() }":   false,
		"x := 1 +":                             false,
		"type T struct { A payments.Nothing }": false,
		"service.Refund(ctx, \"ch_1\")\nvar _ int = \"a\"": false,
	} {
		if errs := check(snippet{file: "README.md", line: 7, text: text + "\n"}, imports); (len(errs) == 0) != fine {
			t.Errorf("%q: %v", text, errs)
		}
	}
}

// importerOf returns an importer for the packages and all that they import.
func importerOf(t *testing.T, packages []string) types.Importer {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", append([]string{
		"list", "-export", "-deps", "-f", "{{if .Export}}{{.ImportPath}} {{.Export}}{{end}}",
	}, packages...)...)
	var problems bytes.Buffer
	list.Dir, list.Stderr = root, &problems
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, problems.String())
	}
	exports := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[name] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(name string) (io.ReadCloser, error) {
		return os.Open(exports[name])
	})
}

// check type-checks a snippet: a file, declarations, or statements. Imports
// and variables that it does not use are fine.
func check(s snippet, imports types.Importer) (errs []error) {
	set := token.NewFileSet()
	files, err := parse(set, s)
	if err != nil {
		return []error{err}
	}
	conf := types.Config{Importer: imports, Error: func(err error) {
		if problem, ok := errors.AsType[types.Error](err); !ok || !problem.Soft {
			errs = append(errs, err)
		}
	}}
	// Its error is the first of those that conf.Error has seen.
	_, _ = conf.Check("snippet", set, files, nil)
	return errs
}

// parse completes a snippet to a package, unless it is a whole file: with the
// known imports, a function around statements, and the given names.
func parse(set *token.FileSet, s snippet) ([]*ast.File, error) {
	parseFile := func(source string) (*ast.File, error) {
		return parser.ParseFile(set, "snippet.go", source, parser.SkipObjectResolution)
	}
	line := fmt.Sprintf("//line %s:%d\n", s.file, s.line)
	if file, err := parseFile(line + s.text); err == nil {
		return []*ast.File{file}, nil
	}
	var header strings.Builder
	header.WriteString("package snippet;")
	for _, name := range slices.Sorted(maps.Keys(known)) {
		header.WriteString("import " + name + " " + strconv.Quote(known[name]) + ";")
	}
	file, err := parseFile(header.String() + "\n" + line + s.text)
	if err != nil {
		file, err = parseFile(header.String() + "func _() {\n" + line + s.text + "}")
	}
	if err != nil {
		return nil, err
	}

	declared := make(map[string]bool)
	for _, decl := range file.Decls {
		for _, name := range declaredBy(decl) {
			declared[name] = true
		}
	}
	var rest strings.Builder
	rest.WriteString(header.String())
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !declared[name] {
			rest.WriteString(given[name] + ";")
		}
	}
	others, err := parseFile(rest.String())
	return []*ast.File{file, others}, err
}

// declaredBy returns the package-level names of a declaration.
func declaredBy(decl ast.Decl) (names []string) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv == nil {
			names = append(names, decl.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}
