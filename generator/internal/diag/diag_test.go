package diag

import (
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func at(file string, line, column, offset int, message string) Diagnostic {
	return At(token.Position{Filename: file, Line: line, Column: column, Offset: offset}, "%s", message)
}

func lines(list []Diagnostic) []string {
	var lines []string
	for _, d := range list {
		lines = append(lines, d.Position.String()+": "+d.Message)
	}
	return lines
}

func TestSort(t *testing.T) {
	list := []Diagnostic{
		at("b.go", 1, 1, 0, "x"),
		at("a.go", 10, 1, 0, "x"),
		at("a.go", 9, 12, 0, "x"),
		at("a.go", 9, 3, 0, "y"),
		at("a.go", 9, 3, 0, "x"),
		at("b.go", 1, 1, 0, "x"),
		at("a.go", 9, 3, 77, "x"), // found by another stage, which counts from elsewhere
	}
	got := lines(Sort(list))
	want := []string{"a.go:9:3: x", "a.go:9:3: y", "a.go:9:12: x", "a.go:10:1: x", "b.go:1:1: x"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestPrint(t *testing.T) {
	dir := t.TempDir()
	inside, outside := filepath.Join(dir, "p", "a.go"), filepath.Join(filepath.Dir(dir), "b.go")
	var out strings.Builder
	Print(&out, dir, []Diagnostic{
		at(inside, 3, 14, 40, "one is 100% wrong"),
		at(outside, 1, 2, 1, "two"),
		at(inside, 0, 0, 0, "three, somewhere in the file"),
	})
	want := filepath.Join("p", "a.go") + ":3:14: one is 100% wrong\n" +
		outside + ":1:2: two\n" +
		filepath.Join("p", "a.go") + ": three, somewhere in the file\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRelative(t *testing.T) {
	for _, tt := range []struct{ dir, file, want string }{
		{"/a/b", "/a/b/c.go", "c.go"},
		{"/a/b", "/a/b/d/c.go", "d/c.go"},
		{"/a/b", "/a/bc/d.go", "/a/bc/d.go"},
		{"/a/b", "/a/c.go", "/a/c.go"},
		{"relative", "/a/c.go", "/a/c.go"},
	} {
		dir, file, want := filepath.FromSlash(tt.dir), filepath.FromSlash(tt.file), filepath.FromSlash(tt.want)
		if got := Relative(dir, file); got != want {
			t.Errorf("Relative(%s, %s) = %s, want %s", dir, file, got, want)
		}
	}
}
