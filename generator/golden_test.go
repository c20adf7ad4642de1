package generator

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/idemgen/idem/generator/internal/lock"
)

var update = flag.Bool("update", false, "rewrite the outputs in testdata")

// A golden is a case: a folder of sources, and what is generated from it.
type golden struct {
	file    string // the archive
	archive *txtar.Archive
	outputs map[string][]byte // by name in the archive
}

func isOutput(name string) bool {
	return strings.HasSuffix(name, "_idem.go") || strings.HasSuffix(name, "_idem_test.go")
}

// readGoldens returns the cases by the name of their folder.
func readGoldens(t *testing.T) map[string]*golden {
	t.Helper()
	files, err := filepath.Glob("../testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	goldens := map[string]*golden{}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		g := &golden{file: file, archive: archive, outputs: map[string][]byte{}}
		goldens[strings.TrimSuffix(filepath.Base(file), ".txtar")] = g
	}
	return goldens
}

// writeSources makes dir a module that holds the sources of every case.
func writeSources(t *testing.T, dir string, goldens map[string]*golden) {
	t.Helper()
	write := func(name string, text []byte) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for folder, g := range goldens {
		for _, f := range g.archive.Files {
			if !isOutput(f.Name) {
				write(folder+"/"+f.Name, f.Data)
			}
		}
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/idemgen/idem"
	write("go.mod", fmt.Appendf(nil, "module example.com/golden\n\ngo 1.26\n\nrequire %s v0.0.0\n\nreplace %s => %s\n", module, module, root))
	sum, err := os.ReadFile("../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	write("go.sum", sum)
	t.Setenv("GOFLAGS", "-mod=mod")
}

// Each archive in testdata is a package, with the outputs that it must give.
// All of them are generated in one run, which must be reproducible, and the
// outputs must build, pass vet, and do at run time what the tests in the
// archives say.
func TestGolden(t *testing.T) {
	goldens := readGoldens(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	writeSources(t, dir, goldens)
	t.Setenv("GOOS", "linux") // one case has a file for it alone
	result, err := Generate(Options{Dir: dir, Packages: []string{"./..."}})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range result.Diagnostics {
		t.Errorf("%s: %s", d.Position, d.Message)
	}
	for _, o := range result.Outputs {
		folder, name, _ := strings.Cut(filepath.ToSlash(Relative(dir, o.Path)), "/")
		goldens[folder].outputs[name] = o.Text
	}
	for _, l := range result.Locks {
		compareLock(t, l.Text)
	}
	for _, folder := range slices.Sorted(maps.Keys(goldens)) {
		t.Run(folder, func(t *testing.T) { goldens[folder].compare(t) })
	}

	changes, err := result.Changes()
	if err != nil {
		t.Fatal(err)
	}
	if err := Commit(changes); err != nil {
		t.Fatal(err)
	}
	again, err := Generate(Options{Dir: dir, Packages: []string{"./..."}})
	if err != nil {
		t.Fatal(err)
	}
	if changes, err := again.Changes(); err != nil || len(changes) > 0 {
		t.Errorf("the second run changes %s, %v", Diff(dir, changes), err)
	}
	t.Setenv("GOOS", runtime.GOOS)
	run(t, dir, "go", "vet", "./...")
	run(t, dir, "go", "test", "./...")
}

// compareLock compares the lock file of all cases with the one in testdata.
func compareLock(t *testing.T, text []byte) {
	t.Helper()
	file := filepath.Join("../testdata", lock.Name)
	if *update {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, want) {
		t.Errorf("%s differs (rewrite it with -update):\n%s", file, text)
	}
}

// compare compares the outputs of a case with those in its archive.
func (g *golden) compare(t *testing.T) {
	want := map[string][]byte{}
	for _, f := range g.archive.Files {
		if isOutput(f.Name) {
			want[f.Name] = f.Data
		}
	}
	if *update {
		g.rewrite(t)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(g.outputs)) {
		if !bytes.Equal(g.outputs[name], want[name]) {
			t.Errorf("%s: %s differs (rewrite it with -update):\n%s", g.file, name, g.outputs[name])
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s: %s was not generated", g.file, name)
	}
}

// rewrite puts each output behind its source.
func (g *golden) rewrite(t *testing.T) {
	var files []txtar.File
	for _, f := range g.archive.Files {
		if isOutput(f.Name) {
			continue
		}
		files = append(files, f)
		base := strings.TrimSuffix(f.Name, ".go")
		output := base + "_idem.go"
		if test, ok := strings.CutSuffix(base, "_test"); ok {
			output = test + "_idem_test.go"
		}
		if text, ok := g.outputs[output]; ok {
			files = append(files, txtar.File{Name: output, Data: text})
		}
	}
	g.archive.Files = files
	if err := os.WriteFile(g.file, txtar.Format(g.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run executes a command that must succeed.
func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", c, err, out)
	}
}
