package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// inModule makes a module of the given files the current directory.
func inModule(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("GOFLAGS", "-mod=mod")
	if err := writeModule(dir); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	annotated = "package p\n\ntype P interface {\n\t//idem:key id\n\tDo(id string, f func()) error\n}\n"
	mistaken  = "package p\n\ntype P interface {\n\t//idem:key idd\n\tDo(id string) error\n}\n"
)

// idemgen runs the command in this process.
func idemgen(args ...string) (status int, stdout, stderr string) {
	var out, err strings.Builder
	status = run(args, &out, &err)
	return status, out.String(), err.String()
}

func TestRun(t *testing.T) {
	inModule(t, map[string]string{"p.go": annotated, "q/p.go": mistaken})
	steps := []struct {
		name   string
		args   string
		status int
		stdout string // a part of it, or "" for nothing
		stderr string
	}{
		{"a file is missing", "-check", different, "p_idem.go is missing\n", ""},
		{"the difference", "-diff", fine, "+++ b/p_idem.go\n", ""},
		{"writing", "-v", fine, "", "wrote p_idem.go\n"},
		{"writing nothing", "", fine, "", ""},
		{"what fingerprints leave out", "-v", fine, "", "leaves out f"},
		{"a mistake", "./q", different, "", filepath.Join("q", "p.go") + ":4:13: "},
		{"no such package", "./nowhere", failed, "", "idemgen: "},
		{"no such flag", "-nonsense", failed, "", "usage: "},
		{"help", "-help", fine, "", "usage: "},
		{"the version", "-version", fine, "idemgen ", ""},
	}
	for _, step := range steps {
		status, stdout, stderr := idemgen(strings.Fields(step.args)...)
		if status != step.status || !says(stdout, step.stdout) || !says(stderr, step.stderr) {
			t.Errorf("%s: idemgen %s: status %d, want %d\nstdout: %s\nstderr: %s", step.name, step.args, status, step.status, stdout, stderr)
		}
	}
	if err := os.Remove("p.go"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("other.go", []byte("package p\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := idemgen("-v", "-accept"); status != fine || stderr != "removed idem.lock\nremoved p_idem.go\n" {
		t.Errorf("removing: status %d, stderr: %s", status, stderr)
	}
}

// says reports whether text holds part, or is empty if part is.
func says(text, part string) bool {
	if part == "" {
		return text == ""
	}
	return strings.Contains(text, part)
}

func TestRunJSON(t *testing.T) {
	inModule(t, map[string]string{"p.go": annotated, "q/p.go": mistaken})
	status, stdout, stderr := idemgen("-json", "./...")
	var got struct {
		Diagnostics []struct {
			File, Message string
			Line, Column  int
		}
		Notes []struct{ Message string }
		Files []struct {
			Path, State string
			Written     bool
		}
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || status != different || stderr != "" {
		t.Fatalf("status %d, %v\nstdout: %s\nstderr: %s", status, err, stdout, stderr)
	}
	if len(got.Diagnostics) != 1 || filepath.Base(got.Diagnostics[0].File) != "p.go" ||
		got.Diagnostics[0].Line != 4 || got.Diagnostics[0].Column != 13 || got.Diagnostics[0].Message == "" {
		t.Errorf("diagnostics: %+v", got.Diagnostics)
	}
	if len(got.Notes) != 1 || !strings.Contains(got.Notes[0].Message, "f") {
		t.Errorf("notes: %+v", got.Notes)
	}
	if len(got.Files) != 2 || filepath.Base(got.Files[1].Path) != "p_idem.go" || got.Files[1].State != "missing" || !got.Files[1].Written {
		t.Errorf("files: %+v", got.Files)
	}
}

func TestRunCannotWrite(t *testing.T) {
	inModule(t, map[string]string{"p.go": annotated})
	if status, _, stderr := idemgen(); status != fine {
		t.Fatal(stderr)
	}
	if err := os.Chmod("p_idem.go", 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("p.go", []byte(strings.Replace(annotated, "f func()", "f int", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if status, _, stderr := idemgen(); status != failed || !strings.Contains(stderr, "permission denied") {
		t.Errorf("status %d, stderr: %s", status, stderr)
	}
}

func TestDescribe(t *testing.T) {
	replaced := &debug.Module{Path: module, Version: "v1.2.3", Replace: &debug.Module{Path: "../idem"}}
	for want, info := range map[string]*debug.BuildInfo{
		"idemgen (devel) go1.26":                    {GoVersion: "go1.26", Main: debug.Module{Path: module}},
		"idemgen v1.2.3 go1.26":                     {GoVersion: "go1.26", Main: debug.Module{Path: module, Version: "v1.2.3"}},
		"idemgen v1.2.4 go1.26":                     {GoVersion: "go1.26", Main: debug.Module{Path: "x.org/client"}, Deps: []*debug.Module{{Path: module, Version: "v1.2.4"}}},
		"idemgen v1.2.3 replaced by ../idem go1.26": {GoVersion: "go1.26", Main: debug.Module{Path: "x.org/client"}, Deps: []*debug.Module{replaced}},
	} {
		if got := describe(info); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
