package analyze

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// surroundings are what the declarations of the fuzzer stand in.
const surroundings = `package p

import (
	"context"
	"strings"
	"time"
)

var (
	_ context.Context
	_ = strings.ToUpper
	_ time.Time
)

type Request struct {
	ID   string
	Tags map[string]*Request
	At   time.Time
	any  any
}

func (r *Request) Get(context.Context) (string, error) { return r.ID, nil }

func Find(ctx context.Context, id string) (bool, error) { return false, nil }

`

// FuzzCheck writes directives and declarations that nobody would. Nothing may
// panic, and what is said must point into the source.
func FuzzCheck(f *testing.F) {
	f.Add("key id\nttl 1h", "Do(ctx context.Context, id string) error", "type T int")
	f.Add("key req.Get(ctx), len(req.Tags)\nfingerprint req.At, 1<<3", "Do(ctx context.Context, req *Request) (a, b []Request, err error)", "")
	f.Add("recover ask Find\nkey \"a//\", id // b", "Do(ctx context.Context, id string) error", "type IdempotentP = func()")
	f.Add("codec own\nkey xs[0], xs...\nfinal E, *E", "Do(xs ...map[string]chan<- int) (interface{ m() }, error)", "type E struct{ error }")
	f.Add("key (id\nname a.b\nlossy x", "Q; Do(id T) (T, error)", "type Q interface{ ~int | string; comparable }")
	f.Add("pending wait=1s\noptional\nlease 1s\nkey id", "Do(_, id [1 << 3]T[int]) (func(T[bool]), error)", "type T[X any] struct{ *T[X]; x X }")
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, source := range sourcesOf(archive) {
			for line := range strings.Lines(string(source.Data)) {
				if args, ok := strings.CutPrefix(strings.TrimSpace(line), "//idem:"); ok {
					f.Add(args, "Do(ctx context.Context, id string, a, b, s, req Request) error", "")
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, directives, method, declarations string) {
		var source strings.Builder
		source.WriteString(surroundings + "type P interface {\n")
		for line := range strings.SplitSeq(directives, "\n") {
			source.WriteString("\t//idem:" + line + "\n")
		}
		source.WriteString("\t" + method + "\n}\n\n" + declarations + "\n")
		text := source.String()
		l := newLoader([]txtar.File{{Name: "p.go", Data: []byte(text)}})
		pkg, _, err := l.load()
		if err != nil {
			return // no Go
		}
		lines := strings.Split(text, "\n")
		result := Check(pkg)
		for _, d := range append(result.Problems, result.Notes...) {
			p := d.Position
			if p.Filename != "p.go" || p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > len(lines[p.Line-1])+1 {
				t.Errorf("%s: %s is not in\n%s", p, d.Message, text)
			}
			if strings.Contains(d.Message, "\n") || d.Message == "" {
				t.Errorf("%s: %q is not a line", p, d.Message)
			}
		}
		if len(result.Problems) == 0 {
			dump(result.Files)
		}
	})
}
