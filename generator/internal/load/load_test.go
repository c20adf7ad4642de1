package load

import (
	"bytes"
	"fmt"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// modules writes an archive to a new folder and returns it. Its root is the
// module example.com/m, unless the archive says otherwise.
func modules(t *testing.T, archive string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// Whatever the machine is set to must not decide.
	for name, value := range map[string]string{"GOFLAGS": "", "GOWORK": "", "GOPROXY": "off", "GOOS": "", "GOARCH": ""} {
		t.Setenv(name, value)
	}
	if !strings.Contains(archive, "-- go.mod --") && !strings.Contains(archive, "-- go.work --") {
		archive += "-- go.mod --\nmodule example.com/m\n\ngo 1.26\n"
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// config finds of interest what mentions "wanted", and takes for earlier
// outputs what begins with "// Ours.".
func config(dir string) Config {
	return Config{
		Dir:     dir,
		Mention: func(source []byte) bool { return bytes.Contains(source, []byte("wanted")) },
		Output:  func(source []byte) bool { return bytes.HasPrefix(source, []byte("// Ours.")) },
	}
}

// load loads the packages, and describes the result in lines.
func load(t *testing.T, cfg Config, patterns ...string) (*Result, string) {
	t.Helper()
	result, err := Packages(cfg, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	relative := func(path string) string {
		rel, err := filepath.Rel(cfg.Dir, path)
		if err != nil {
			t.Fatal(err)
		}
		return filepath.ToSlash(rel)
	}
	var lines []string
	for _, p := range result.Packages {
		line := fmt.Sprintf("%s (%s):", p.Path, p.Types.Name())
		for _, f := range p.Files {
			line += " " + relative(f.Path)
			if f.Mentioned {
				line += "!"
			}
		}
		lines = append(lines, line)
	}
	for _, path := range result.Outputs {
		lines = append(lines, "output "+relative(path))
	}
	for _, d := range result.Problems {
		lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", relative(d.Position.Filename), d.Position.Line, d.Position.Column, d.Message))
	}
	return result, strings.Join(lines, "\n")
}

// expect loads the packages and compares the description of what was found.
func expect(t *testing.T, cfg Config, want string, patterns ...string) *Result {
	t.Helper()
	result, got := load(t, cfg, patterns...)
	if want = strings.TrimSpace(want); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	return result
}

// signature returns the type of a package-level name as it is spelled from
// nowhere.
func signature(t *testing.T, p *Package, name string) string {
	t.Helper()
	o := p.Types.Scope().Lookup(name)
	if o == nil {
		t.Fatalf("%s has no %s", p.Path, name)
	}
	return o.Type().String()
}

// Packages in which no file is of interest are not type-checked: this one
// could not be. They are known to have been matched all the same.
func TestPackagesWithoutInterest(t *testing.T) {
	dir := modules(t, `
-- a/a.go --
package a

func F() (wanted string) { return undefined }
-- a/b.go --
package a

import "strings"

func G() { strings.NoSuchFunction() }
-- b/b.go --
package b

import "example.com/nowhere"

var Broken nowhere.T = 1 +
-- c/c.go --
package c
-- d/d_idem.go --
// Ours. Nothing in it is wanted.
package d
-- e/e.go --
package other

var wanted int
`)
	result := expect(t, config(dir), `
example.com/m/a (a): a/a.go! a/b.go
example.com/m/e (other): e/e.go!
output d/d_idem.go
`, "./...")
	var matched []string
	for _, m := range result.Matched {
		matched = append(matched, m.Path)
		if want := filepath.Join(dir, filepath.Base(m.Path)); m.Dir != want {
			t.Errorf("%s is in %s, want %s", m.Path, m.Dir, want)
		}
	}
	if got := strings.Join(matched, " "); got != "example.com/m/a example.com/m/b example.com/m/c example.com/m/d example.com/m/e" {
		t.Errorf("matched %s", got)
	}
	if got := signature(t, result.Packages[0], "F"); got != "func() (wanted string)" {
		t.Errorf("F is a %s", got)
	}
}

func TestPackagesWithTests(t *testing.T) {
	dir := modules(t, `
-- plain/p.go --
package plain

type wanted int
-- plain/p_test.go --
package plain

import "example.com/nowhere"

var _ nowhere.T
-- inside/p.go --
package inside

type T int
-- inside/p_test.go --
package inside

type wanted T
-- both/p.go --
package both

type wanted int
-- both/p_test.go --
package both

func Test() (_ wanted) { return }
-- outside/p.go --
package outside

type T int
-- outside/in_test.go --
package outside

type OnlyInTests T
-- outside/out_test.go --
package outside_test

import "example.com/m/outside"

func Wanted() (wanted outside.OnlyInTests) { return }
-- outside_test/o.go --
package outside_test

type wanted bool
-- outside_test/o_test.go --
package outside_test
-- x_test/x_test.go --
package x

type wanted bool
-- only/only_test.go --
package only

type wanted int
`)
	result := expect(t, config(dir), `
example.com/m/both (both): both/p.go! both/p_test.go!
example.com/m/inside (inside): inside/p.go inside/p_test.go!
example.com/m/only (only): only/only_test.go!
example.com/m/outside_test (outside_test): outside_test/o.go!
example.com/m/outside_test (outside_test): outside/out_test.go!
example.com/m/plain (plain): plain/p.go!
example.com/m/x_test (x): x_test/x_test.go!
`, "./...")
	if got := signature(t, result.Packages[4], "Wanted"); got != "func() (wanted example.com/m/outside.OnlyInTests)" {
		t.Errorf("Wanted is a %s", got)
	}
}

// A path that ends as the go command's own packages do is like any other.
func TestPackagesNamedLikeTests(t *testing.T) {
	dir := modules(t, `
-- go.mod --
module shop.test

go 1.26
-- p.go --
package shop

type wanted int
-- p_test.go --
package shop
-- main.test/m.go --
package main

type wanted int
`)
	result := expect(t, config(dir), `
shop.test (shop): p.go!
shop.test/main.test (main): main.test/m.go!
`, "./...")
	if len(result.Matched) != 2 {
		t.Errorf("matched %v", result.Matched)
	}
}

// Code that uses a wrapper which does not exist yet, or no longer fits, does
// not stand in the way of making it: bodies are dropped and outputs blanked.
func TestPackagesBeforeTheirOutputs(t *testing.T) {
	dir := modules(t, `
-- missing/p.go --
package missing

type P interface{ Do() } // wanted

func Many() (n int, err error) { n = undefined }

func Generic[T any]() T { }

func New(p P) *IdempotentP { return NewIdempotentP(p) }

func Use() { New(nil).Do() }
-- stale/p.go --
package stale

import "fmt"

type P interface{ Do(n int, s fmt.Stringer) } // wanted

var _ P = NewIdempotentP(nil)

func Method() { _ = (*IdempotentP).Do }
-- stale/p_idem.go --
// Ours.
package stale

import "example.com/nowhere"

type P int

type IdempotentP struct { nowhere.T
`)
	result := expect(t, config(dir), `
example.com/m/missing (missing): missing/p.go!
example.com/m/stale (stale): stale/p.go!
output stale/p_idem.go
`, "./...")
	if u := result.Packages[1].Types.Scope().Lookup("P").Type().Underlying().String(); u != "interface{Do(n int, s fmt.Stringer)}" {
		t.Errorf("P is a %s", u)
	}
	for i, want := range []string{"undefined: IdempotentP", "undefined: NewIdempotentP"} {
		found := result.Packages[i].Errors
		if len(found) != 1 || found[0].Msg != want {
			t.Errorf("the errors are %v, want %s", found, want)
		}
	}
}

// A package is checked although another of its module, which it imports, does
// not compile: that one uses its own wrapper, or its output is stale. It is not
// among those asked for, so it is not returned.
func TestPackagesBeforeTheOutputsOfOthers(t *testing.T) {
	dir := modules(t, `
-- p/p.go --
package p

import (
	"example.com/m/missing"
	"example.com/m/through"
)

func F(a missing.ID, b through.T) (wanted through.Stale) { return }
-- missing/m.go --
package missing

type ID string // wanted

type Service struct{ P *IdempotentP }

func New() *IdempotentP { return NewIdempotentP() }
-- through/t.go --
package through

import (
	"example.com/m/missing"
	"example.com/m/stale"
)

type T struct {
	ID missing.ID
	S  missing.Service
}

type Stale = stale.T
-- stale/s.go --
package stale

type T struct{ N int }
-- stale/s_idem.go --
// Ours.
package stale

var _ = gone
`)
	result := expect(t, config(dir), `
example.com/m/p (p): p/p.go!
`, "./p")
	if got, want := signature(t, result.Packages[0], "F"),
		"func(a example.com/m/missing.ID, b example.com/m/through.T) (wanted example.com/m/through.Stale)"; got != want {
		t.Errorf("F is a %s, want %s", got, want)
	}
	if errors := result.Packages[0].Errors; len(errors) > 0 {
		t.Errorf("the errors are %v", errors)
	}
	f := result.Packages[0].Types.Scope().Lookup("F").Type().(*types.Signature)
	if got := f.Params().At(1).Type().Underlying().String(); got != "struct{ID example.com/m/missing.ID; S example.com/m/missing.Service}" {
		t.Errorf("b is a %s", got)
	}
}

func TestSyntaxErrors(t *testing.T) {
	dir := modules(t, `
-- a/a.go --
package a

type wanted int
-- a/z.go --
package a

func f( {
}
-- b/b.go --
package b

type wanted int
-- b/z.go --
package b

import "fmt
-- c/c.go --
package c

type wanted int
-- c/z.go --
pakage c
-- d/d.go --
package d

type wanted = [
-- d/d_test.go --
package d

func f() { ) }
-- e/e_test.go --
package e

type wanted int

func f() { return 1 + }
-- fine/f.go --
package fine

type wanted int
`)
	expect(t, config(dir), `
example.com/m/fine (fine): fine/f.go!
a/z.go:3:9: expected ')', found '{'
a/z.go:4:1: missing ',' in parameter list
b/z.go:3:8: string literal not terminated
c/z.go:1:1: expected 'package', found pakage
d/d.go:3:17: expected operand, found 'EOF'
e/e_test.go:5:23: expected operand, found '}'
`, "./...")
}

func TestPatterns(t *testing.T) {
	dir := modules(t, `
-- a/a.go --
package a

type wanted int
-- b/b.go --
package b

type wanted int
-- empty/README --
Nothing.
-- elsewhere/e.go --
//go:build never

package elsewhere

type wanted int
`)
	expect(t, config(dir), "example.com/m/a (a): a/a.go!\nexample.com/m/b (b): b/b.go!", "./a", "example.com/m/b", "./a")
	expect(t, config(filepath.Join(dir, "a")), "example.com/m/a (a): a.go!", ".")
	expect(t, config(dir), "", "./elsewhere")
	for pattern, want := range map[string]string{
		"./nowhere":             "./nowhere: stat ",
		"./nowhere/...":         "./nowhere/...: pattern ",
		"./empty":               "./empty: no Go files in ",
		"./empty/...":           "no packages match ./empty/...",
		"example.com/elsewhere": "example.com/elsewhere: ",
		"a/a.go":                "a/a.go is a file: name the folder of its package",
	} {
		if _, err := Packages(config(dir), "./a", pattern); pattern != "./empty/..." && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("with %s the error is %v, want %s", pattern, err, want)
		}
		if _, err := Packages(config(dir), pattern); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("for %s the error is %v, want %s", pattern, err, want)
		}
	}
	if _, err := Packages(config(filepath.Join(dir, "nowhere")), "."); err == nil {
		t.Error("a folder that is not there gave no error")
	}
}

func TestPosition(t *testing.T) {
	here, err := filepath.Abs("p.go")
	if err != nil {
		t.Fatal(err)
	}
	for s, want := range map[string]token.Position{
		"/a/p.go:3:14":   {Filename: "/a/p.go", Line: 3, Column: 14},
		"/a/p.go:3":      {Filename: "/a/p.go", Line: 3},
		"/a/p.go":        {Filename: "/a/p.go"},
		"/a:1/p.go:3:14": {Filename: "/a:1/p.go", Line: 3, Column: 14},
		"p.go:3:14":      {Filename: here, Line: 3, Column: 14},
		"p.go:x:14":      {Filename: here + ":x", Line: 14},
	} {
		if got := position(s); got != want {
			t.Errorf("position(%s) = %v, want %v", s, got, want)
		}
	}
}

// rewrite replaces a text in a file.
func rewrite(t *testing.T, path, old, new string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte(old), []byte(new)), 0o644); err != nil {
		t.Fatal(err)
	}
}
