package load

import (
	"go/types"
	"strings"
	"testing"
)

func TestTags(t *testing.T) {
	dir := modules(t, `
-- p.go --
package p

type wanted int
-- q.go --
//go:build enterprise && !lite

package p

type Enterprise int // wanted
-- p_plan9.go --
package p

type Plan9 int // wanted
`)
	cfg := config(dir)
	expect(t, cfg, "example.com/m (p): p.go!", ".")
	cfg.Tags = "enterprise"
	expect(t, cfg, "example.com/m (p): p.go! q.go!", ".")
	cfg.Tags = "enterprise,lite"
	expect(t, cfg, "example.com/m (p): p.go!", ".")
	cfg.Tags = ""
	t.Setenv("GOFLAGS", "-tags=enterprise")
	expect(t, cfg, "example.com/m (p): p.go! q.go!", ".")
	t.Setenv("GOOS", "plan9")
	expect(t, cfg, "example.com/m (p): p.go! p_plan9.go! q.go!", ".")
}

// The type checker sees what cgo made of a file; everything else is about the
// file that the user wrote.
func TestCgo(t *testing.T) {
	dir := modules(t, `
-- p.go --
package p

// typedef struct { int n; } pair;
import "C"

type P interface{ Do(C.int, *C.pair) } // wanted
-- q.go --
package p

func Use(p P) {}
`)
	t.Setenv("CGO_ENABLED", "1")
	result := expect(t, config(dir), "example.com/m (p): p.go! q.go", ".")
	if got := types.TypeString(result.Packages[0].Types.Scope().Lookup("P").Type().Underlying(), nil); !strings.Contains(got, "._Ctype_int, *example.com/m._Ctype_") {
		t.Errorf("P is a %s", got)
	}
	t.Setenv("CGO_ENABLED", "0")
	expect(t, config(dir), "", ".")
}

func TestVendored(t *testing.T) {
	dir := modules(t, `
-- go.mod --
module example.com/m

go 1.26

require example.org/dep v1.2.3
-- vendor/modules.txt --
# example.org/dep v1.2.3
## explicit; go 1.26
example.org/dep
-- vendor/example.org/dep/d.go --
package dep

type T struct{ wanted int }
-- p/p.go --
package p

import "example.org/dep"

func F(dep.T) (wanted int) { return }
`)
	result := expect(t, config(dir), "example.com/m/p (p): p/p.go!", "./...")
	if got := signature(t, result.Packages[0], "F"); got != "func(example.org/dep.T) (wanted int)" {
		t.Errorf("F is a %s", got)
	}
}

func TestReplaced(t *testing.T) {
	dir := modules(t, `
-- go.mod --
module example.com/m

go 1.26

require example.org/dep/v2 v2.0.0

replace example.org/dep/v2 => ./_fork
-- _fork/go.mod --
module example.org/dep/v2

go 1.26
-- _fork/d.go --
package other

type T int
-- p/p.go --
package p

import "example.org/dep/v2"

func F(other.T) (wanted int) { return }
`)
	result := expect(t, config(dir), "example.com/m/p (p): p/p.go!", "./...")
	if got := signature(t, result.Packages[0], "F"); got != "func(example.org/dep/v2.T) (wanted int)" {
		t.Errorf("F is a %s", got)
	}
}

// Modules of a workspace see each other, and packages of both can be asked for.
func TestWorkspace(t *testing.T) {
	dir := modules(t, `
-- go.work --
go 1.26

use (
	./app
	./lib
)
-- app/go.mod --
module example.com/app

go 1.26
-- app/a.go --
package app

import "example.com/lib"

func F(lib.T) (wanted int) { return }
-- lib/go.mod --
module example.com/lib

go 1.26
-- lib/l.go --
package lib

type T int // wanted
`)
	expect(t, config(dir), "example.com/app (app): app/a.go!\nexample.com/lib (lib): lib/l.go!", "./app", "example.com/lib")
	t.Setenv("GOWORK", "off")
	result := expect(t, config(dir+"/app"), "example.com/app (app): a.go!", ".")
	if errors := result.Packages[0].Errors; len(errors) == 0 || !strings.Contains(errors[0].Msg, "could not import example.com/lib") {
		t.Errorf("without the workspace the errors are %v", errors)
	}
}
