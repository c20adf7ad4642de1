package generator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	annotated = "package p\n\ntype P interface {\n\t//idem:key id\n\tDo(id string, f func()) error\n}\n"
	mistaken  = "package p\n\ntype P interface {\n\t//idem:key idd\n\tDo(id string) error\n}\n"
)

// generate runs the pipeline on a module of the given files.
func generate(t *testing.T, files map[string]string) (dir string, r *Result) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files["go.mod"] = "module example.com/m\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err = Generate(Options{Dir: dir, Packages: []string{"./..."}})
	if err != nil {
		t.Fatal(err)
	}
	return dir, r
}

// names lists files as they are called in dir.
func names(dir string, paths []string) string {
	var list []string
	for _, path := range paths {
		list = append(list, filepath.ToSlash(Relative(dir, path)))
	}
	return strings.Join(list, " ")
}

func (r *Result) paths() []string {
	var paths []string
	for _, o := range r.Outputs {
		paths = append(paths, o.Path)
	}
	return paths
}

// said lists remarks as file:line:col.
func said(dir string, remarks []Diagnostic) string {
	var places []string
	for _, d := range remarks {
		p := d.Position
		p.Filename = filepath.ToSlash(Relative(dir, p.Filename))
		places = append(places, p.String())
	}
	return strings.Join(places, " ")
}

func TestGenerateOnlyWhatIsRight(t *testing.T) {
	dir, r := generate(t, map[string]string{
		"a/p.go":         annotated,
		"a/gone_idem.go": ours,
		"b/p.go":         mistaken,
		"b/p_idem.go":    ours,
		"c/p.go":         annotated,
		"c/p_idem.go":    "package p\n",
		"c/q.go":         strings.ReplaceAll(annotated, "P", "Q"),
		"c/old_idem.go":  ours,
		"d/p.go":         "package p\n\n//idem:key x\nvar = 1\n",
		"e/p.go":         "package p\n",
	})
	if got, want := names(dir, r.paths()), "a/p_idem.go"; got != want {
		t.Errorf("outputs are %s, want %s", got, want)
	}
	if got, want := names(dir, r.Orphans), "a/gone_idem.go"; got != want {
		t.Errorf("orphans are %s, want %s", got, want)
	}
	if got, want := said(dir, r.Diagnostics), "b/p.go:4:13 c/p.go:3:6 d/p.go:4:5"; got != want {
		t.Errorf("mistakes are at %s, want %s", got, want)
	}
	if got, want := said(dir, r.Notes), "a/p.go:5:2 c/p.go:5:2 c/q.go:5:2"; got != want {
		t.Errorf("notes are at %s, want %s", got, want)
	}
}

func TestGenerateReportsWhatCannotBeLoaded(t *testing.T) {
	if _, err := Generate(Options{Dir: t.TempDir(), Packages: []string{"./nowhere"}}); err == nil {
		t.Error("no error for a folder that is not there")
	}
	dir, r := generate(t, map[string]string{"p.go": annotated})
	if err := os.Mkdir(r.Outputs[0].Path, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Generate(Options{Dir: dir, Packages: []string{"."}}); err == nil {
		t.Error("no error for an output that is a folder")
	}
}

// A result can hold what only another package can name, as the quantities of
// Kubernetes do.
func TestGenerateForWhatCannotBeNamed(t *testing.T) {
	_, r := generate(t, map[string]string{
		"dep/dep.go": `package dep

type Quantity struct {
	i amount
	p *amount
}

type amount struct{ n int64 }

func (Quantity) MarshalJSON() ([]byte, error) { return nil, nil }
func (*Quantity) UnmarshalJSON([]byte) error  { return nil }

type Flat struct {
	amount amount
	Text   string
}

func (Flat) MarshalJSON() ([]byte, error) { return nil, nil }
func (*Flat) UnmarshalJSON([]byte) error  { return nil }
`,
		"p.go": `package p

import "example.com/m/dep"

type P interface {
	//idem:key id
	Do(id string) (*dep.Quantity, error)

	//idem:key id
	Flat(id string) (*dep.Flat, error)
}
`,
	})
	if len(r.Diagnostics) > 0 || len(r.Outputs) != 1 {
		t.Fatalf("got %v, and %d outputs", r.Diagnostics, len(r.Outputs))
	}
}
