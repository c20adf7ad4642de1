package generator

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idemgen/idem/generator/internal/emit"
)

const ours = emit.Header + "\n\npackage p\n"

// folder makes a directory with the given files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// contents returns the files of a directory.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(text)
	}
	return files
}

func result(dir string, outputs map[string]string, orphans ...string) *Result {
	r := &Result{}
	for name, text := range outputs {
		r.Outputs = append(r.Outputs, Output{Path: filepath.Join(dir, name), Text: []byte(text)})
	}
	for _, name := range orphans {
		r.Orphans = append(r.Orphans, filepath.Join(dir, name))
	}
	return r
}

func TestChanges(t *testing.T) {
	dir := folder(t, map[string]string{
		"same_idem.go":  ours,
		"crlf_idem.go":  strings.ReplaceAll(ours, "\n", "\r\n"),
		"stale_idem.go": ours + "// old\n",
		"gone_idem.go":  ours,
	})
	r := result(dir, map[string]string{
		"same_idem.go": ours, "crlf_idem.go": ours, "stale_idem.go": ours, "new_idem.go": ours,
	}, "gone_idem.go")
	changes, err := r.Changes()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range changes {
		got = append(got, filepath.Base(c.Path)+" "+string(c.State))
	}
	want := "gone_idem.go orphaned, new_idem.go missing, stale_idem.go stale"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("changes are %s, want %s", s, want)
	}
}

func TestChangesOfUnreadableFiles(t *testing.T) {
	dir := folder(t, nil)
	if err := os.Mkdir(filepath.Join(dir, "a_idem.go"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := result(dir, map[string]string{"a_idem.go": ours}).Changes(); err == nil {
		t.Error("an output that is a directory gave no error")
	}
	if _, err := result(dir, nil, "b_idem.go").Changes(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an orphan that is gone gave %v", err)
	}
}

// commit brings dir to what r says.
func commit(t *testing.T, r *Result) error {
	t.Helper()
	changes, err := r.Changes()
	if err != nil {
		t.Fatal(err)
	}
	return Commit(changes)
}

func TestCommit(t *testing.T) {
	dir := folder(t, map[string]string{"stale_idem.go": ours + "// old\n", "gone_idem.go": ours})
	stale := filepath.Join(dir, "stale_idem.go")
	if err := os.Chmod(stale, 0o600); err != nil {
		t.Fatal(err)
	}
	r := result(dir, map[string]string{"stale_idem.go": ours, "new_idem.go": ours}, "gone_idem.go")
	if err := commit(t, r); err != nil {
		t.Fatal(err)
	}
	files := contents(t, dir)
	if len(files) != 2 || files["stale_idem.go"] != ours || files["new_idem.go"] != ours {
		t.Errorf("after the commit there is %q", files)
	}
	if info, err := os.Stat(stale); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("permissions were not kept: %v, %v", info.Mode(), err)
	}
	r.Orphans = nil
	if changes, err := r.Changes(); err != nil || len(changes) != 0 {
		t.Errorf("after a commit there is %v, %v to change", changes, err)
	}
}

func TestCommitLeavesFilesAlone(t *testing.T) {
	tests := []struct {
		name    string
		file    string
		mode    fs.FileMode
		orphan  bool
		problem string
	}{
		{"a file without our header", "package p\n", 0o644, false, "not written by idemgen"},
		{"a file whose header is not the first line", "\n" + ours, 0o644, false, "not written by idemgen"},
		{"an orphan without our header", "package p\n", 0o644, true, "not written by idemgen"},
		{"a read-only file", ours + "// old\n", 0o444, false, "permission denied"},
		{"a read-only orphan", ours, 0o444, true, "permission denied"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, map[string]string{"b_idem.go": tt.file})
			if err := os.Chmod(filepath.Join(dir, "b_idem.go"), tt.mode); err != nil {
				t.Fatal(err)
			}
			r := result(dir, map[string]string{"a_idem.go": ours, "b_idem.go": ours})
			if tt.orphan {
				r = result(dir, map[string]string{"a_idem.go": ours}, "b_idem.go")
			}
			err := commit(t, r)
			if err == nil || !strings.Contains(err.Error(), tt.problem) || !strings.Contains(err.Error(), "b_idem.go") {
				t.Errorf("the error is %v, want %q and the file", err, tt.problem)
			}
			if files := contents(t, dir); len(files) != 1 || files["b_idem.go"] != tt.file {
				t.Errorf("after the failure there is %q", files)
			}
		})
	}
}

// A commit that fails half way leaves the old files whole and no temporary
// files behind.
func TestCommitIsUndone(t *testing.T) {
	dir := folder(t, map[string]string{"a_idem.go": ours + "// old\n"})
	r := result(dir, map[string]string{"a_idem.go": ours})
	r.Outputs = append(r.Outputs, Output{Path: filepath.Join(dir, "no", "such", "b_idem.go"), Text: []byte(ours)})
	if err := commit(t, r); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
	if files := contents(t, dir); len(files) != 1 || files["a_idem.go"] != ours+"// old\n" {
		t.Errorf("after the failure there is %q", files)
	}
}

func TestDiff(t *testing.T) {
	dir := folder(t, map[string]string{"stale_idem.go": ours + "// old\n", "gone_idem.go": ours})
	changes, err := result(dir, map[string]string{"stale_idem.go": ours + "// new\n", "new_idem.go": ours}, "gone_idem.go").Changes()
	if err != nil {
		t.Fatal(err)
	}
	want := `diff a/gone_idem.go /dev/null
--- a/gone_idem.go
+++ /dev/null
@@ -1,3 +0,0 @@
-` + emit.Header + `
-
-package p
diff /dev/null b/new_idem.go
--- /dev/null
+++ b/new_idem.go
@@ -0,0 +1,3 @@
+` + emit.Header + `
+
+package p
diff a/stale_idem.go b/stale_idem.go
--- a/stale_idem.go
+++ b/stale_idem.go
@@ -1,4 +1,4 @@
 ` + emit.Header + `
 ` + `
 package p
-// old
+// new
`
	if got := string(Diff(dir, changes)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRelative(t *testing.T) {
	for path, want := range map[string]string{"/a/b/c.go": "c.go", "/a/b/d/c.go": "d/c.go", "/a/c.go": "/a/c.go"} {
		if got := Relative("/a/b", path); got != want {
			t.Errorf("Relative(/a/b, %s) = %s, want %s", path, got, want)
		}
	}
}
