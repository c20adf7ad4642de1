package generator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// relock generates in a module with the given files and returns what its lock
// files would be, by folder.
func relock(t *testing.T, dir string, o Options, files map[string]string) (*Result, map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o.Dir = dir
	if o.Packages == nil {
		o.Packages = []string{"./..."}
	}
	r, err := Generate(o)
	if err != nil {
		t.Fatal(err)
	}
	locks := map[string]string{}
	for _, l := range r.Locks {
		locks[filepath.ToSlash(Relative(dir, filepath.Dir(l.Path)))] = string(l.Text)
	}
	return r, locks
}

// recorded lists the operations of a lock file.
func recorded(text string) string {
	var list []string
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "operation "); ok {
			list = append(list, strings.TrimSpace(name))
		}
	}
	return strings.Join(list, " ")
}

func realTempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

const twoPackages = "example.com/m.P.Do example.com/m/a.P.Do"

func TestLockKeepsWhatTheRunDoesNotJudge(t *testing.T) {
	dir := realTempDir(t)
	r, locks := relock(t, dir, Options{}, map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n",
		"p.go":   annotated,
		"a/p.go": annotated,
	})
	if got := recorded(locks["."]); got != twoPackages || len(r.Outputs) != 2 {
		t.Fatalf("recorded are %s, with %d wrappers", got, len(r.Outputs))
	}
	if err := Commit([]Change{{Path: r.Locks[0].Path, State: Missing, New: r.Locks[0].Text}}); err != nil {
		t.Fatal(err)
	}

	_, locks = relock(t, dir, Options{Packages: []string{"./a"}}, nil)
	if got := recorded(locks["."]); got != twoPackages {
		t.Errorf("after a run of a package: %s", got)
	}
	r, locks = relock(t, dir, Options{}, map[string]string{"a/p.go": mistaken})
	if got := recorded(locks["."]); got != twoPackages || len(r.Diagnostics) != 1 {
		t.Errorf("with a mistake: %s, %v", got, r.Diagnostics)
	}

	// A package that is deleted is judged where the run would have found it.
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	for pattern, drifts := range map[string]int{
		".": 0, "example.com/m": 0, "./b/...": 0, "example.com/other/...": 0, "./...": 1, "...": 1, dir + "/...": 1, "example.com/m/...": 1,
	} {
		r, locks = relock(t, dir, Options{Packages: []string{".", pattern}}, map[string]string{"b/b.go": "package b\n"})
		if got := recorded(locks["."]); got != twoPackages || len(r.Diagnostics) != drifts {
			t.Errorf("%s: %s, %v", pattern, got, r.Diagnostics)
		}
	}
	_, locks = relock(t, dir, Options{Accept: true}, nil)
	if got := recorded(locks["."]); got != "example.com/m.P.Do" {
		t.Errorf("accepted: %s", got)
	}
}

func TestLockOfEachModule(t *testing.T) {
	r, locks := relock(t, realTempDir(t), Options{Packages: []string{"./one/...", "./two"}}, map[string]string{
		"go.work":    "go 1.26\n\nuse ./one\nuse ./two\n",
		"one/go.mod": "module example.com/one\n\ngo 1.26\n",
		"one/p/p.go": annotated,
		"two/go.mod": "module example.com/two\n\ngo 1.26\n",
		"two/p.go":   annotated,
	})
	if len(r.Diagnostics) > 0 || recorded(locks["one"]) != "example.com/one/p.P.Do" || recorded(locks["two"]) != "example.com/two.P.Do" {
		t.Errorf("%v, %v", r.Diagnostics, locks)
	}
}

func TestLockThatCannotBeRead(t *testing.T) {
	dir := realTempDir(t)
	r, locks := relock(t, dir, Options{Accept: true}, map[string]string{
		"go.mod":    "module example.com/m\n\ngo 1.26\n",
		"p.go":      annotated,
		"p_idem.go": ours,
		"a_idem.go": ours,
		"idem.lock": "<<<<<<< ours\n",
	})
	if got := said(dir, r.Diagnostics); got != "idem.lock:1:1" || len(locks) > 0 || len(r.Outputs) > 0 || len(r.Orphans) > 0 {
		t.Errorf("at %s; %v, %v, %v", got, locks, r.paths(), r.Orphans)
	}
	if err := os.Remove(filepath.Join(dir, "idem.lock")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "idem.lock"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Generate(Options{Dir: dir, Packages: []string{"."}}); err == nil {
		t.Error("no error for a lock file that is a folder")
	}
}

// A package that drifts keeps its files as they are; others do not suffer.
func TestDriftStopsItsPackage(t *testing.T) {
	dir := realTempDir(t)
	files := map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "a/p.go": annotated, "b/p.go": annotated}
	r, _ := relock(t, dir, Options{}, files)
	changes, err := r.Changes()
	if err != nil {
		t.Fatal(err)
	}
	if err := Commit(changes); err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(annotated, "id string", "id int", 1)
	more := annotated + "\ntype Q interface {\n\t//idem:key id\n\tDo(id string) error\n}\n"
	r, locks := relock(t, dir, Options{}, map[string]string{"a/p.go": changed, "a/q_idem.go": ours, "b/p.go": more})
	if got := said(dir, r.Diagnostics); got != "a/p.go:5:2" {
		t.Errorf("drifts at %s", got)
	}
	if got := names(dir, r.paths()); got != "b/p_idem.go" || len(r.Orphans) > 0 {
		t.Errorf("outputs are %s, orphans %v", got, r.Orphans)
	}
	if got, want := recorded(locks["."]), "example.com/m/a.P.Do example.com/m/b.P.Do example.com/m/b.Q.Do"; got != want || !strings.Contains(locks["."], "key string id") {
		t.Errorf("recorded are %s", got)
	}
	r, locks = relock(t, dir, Options{Accept: true}, nil)
	if len(r.Diagnostics) > 0 || names(dir, r.paths()) != "a/p_idem.go b/p_idem.go" || !strings.Contains(locks["."], "key int id") {
		t.Errorf("accepted: %v, %v\n%s", r.Diagnostics, r.paths(), locks["."])
	}
}
