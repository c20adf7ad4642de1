package generator

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// named is a package with one operation of the given name.
func named(operation, key string) string {
	return "package p\n\ntype P interface {\n\t//idem:key " + key + "\n\t//idem:name " + operation + "\n\tDo(id, other string) error\n}\n"
}

const (
	goMod  = "module example.com/m\n\ngo 1.26\n"
	shared = ":5:2: the operation pay is already the one of P.Do of example.com/m/%s: " +
		"two methods with one name would replay each other's results; choose another //idem:name%s"
)

// messages lists remarks as file:line:col: message.
func messages(dir string, r *Result) string {
	var b strings.Builder
	Print(&b, dir, r.Diagnostics)
	return strings.TrimSpace(b.String())
}

// keep commits what a run made.
func keep(t *testing.T, r *Result) {
	t.Helper()
	changes, err := r.Changes()
	if err != nil {
		t.Fatal(err)
	}
	if err := Commit(changes); err != nil {
		t.Fatal(err)
	}
}

func TestOneOperationInTwoPackages(t *testing.T) {
	dir := realTempDir(t)
	r, locks := relock(t, dir, Options{}, map[string]string{
		"go.mod": goMod,
		"a/p.go": named("pay", "id"), "b/p.go": named("pay", "id"),
		"c/p.go": strings.Replace(named("example.com/m/d.P.Do", "id"), "type P", "type Q", 1), "d/p.go": annotated,
	})
	want := "b/p.go" + fmt.Sprintf(shared, "a (a/p.go:6)", "") + "\n" +
		"d/p.go:5:2: the operation example.com/m/d.P.Do is already the one of Q.Do of example.com/m/c (c/p.go:6): " +
		"two methods with one name would replay each other's results; choose another //idem:name"
	if got := messages(dir, r); got != strings.ReplaceAll(want, "b/p.go:5:2", "b/p.go:6:2") {
		t.Errorf("got %s", got)
	}
	if got := names(dir, r.paths()); got != "a/p_idem.go c/p_idem.go" || recorded(locks["."]) != "example.com/m/d.P.Do pay" {
		t.Errorf("made %s, recorded %s", got, recorded(locks["."]))
	}
	// What is recorded was there before.
	r, _ = relock(t, dir, Options{Packages: []string{"./b"}}, nil)
	keep(t, r)
	for _, o := range []Options{{}, {Accept: true}} {
		r, _ = relock(t, dir, o, nil)
		if got := said(dir, r.Diagnostics); !strings.HasPrefix(got, "a/p.go:6:2 ") {
			t.Errorf("after a run of b: at %s", got)
		}
	}
}

// A run that does not load the other package looks there before it complains.
func TestOneOperationInAPackageOfAnotherRun(t *testing.T) {
	for name, c := range map[string]struct {
		other   string // what became of a/p.go, "" if it is gone
		key     string // of the operation in b
		tag     string
		want    string
		records string
	}{
		"it is there":          {named("pay", "id"), "id", "", "b/p.go" + fmt.Sprintf(shared, "a (a/p.go:6)", ""), "pay example.com/m/a"},
		"nobody can tell":      {named("pay", "idd"), "id", "", "b/p.go" + fmt.Sprintf(shared, "a, as idem.lock records", ", or run idemgen on both packages at once if the method moved"), "pay example.com/m/a"},
		"it is no Go":          {"package p\n\n//idem:key x\nvar = 1\n", "id", "", "b/p.go" + fmt.Sprintf(shared, "a, as idem.lock records", ", or run idemgen on both packages at once if the method moved"), "pay example.com/m/a"},
		"it is left out":       {"//go:build never\n\npackage p\n", "id", "", "", "pay example.com/m/b"},
		"it moved":             {"package p\n", "id", "", "", "pay example.com/m/b"},
		"it moved, all of it":  {"", "id", "", "", "pay example.com/m/b"},
		"it moved and changed": {"", "other", "", "b/p.go:5:2: pay drifts from idem.lock: key part 1 is other now, and was id", "pay example.com/m/a"},
		"it is in another configuration": {
			named("pay", "id"), "id", "//go:build !plan9\n\n", "", "pay example.com/m/a, pay example.com/m/b",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := realTempDir(t)
			first := named("pay", "id")
			if c.tag != "" {
				first = "//go:build !js\n\n" + first
			}
			r, _ := relock(t, dir, Options{}, map[string]string{"go.mod": goMod, "a/p.go": first})
			keep(t, r)
			files := map[string]string{"b/p.go": c.tag + named("pay", c.key)}
			if c.other == "" {
				if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
					t.Fatal(err)
				}
			} else if c.tag == "" {
				files["a/p.go"] = c.other
			}
			r, locks := relock(t, dir, Options{Packages: []string{"./b"}}, files)
			want := strings.ReplaceAll(c.want, "b/p.go:5:2", "b/p.go:6:2")
			if got := messages(dir, r); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
				t.Errorf("got %s", got)
			}
			if got := places(locks["."]); got != c.records {
				t.Errorf("recorded are %s", got)
			}
		})
	}
}

// places lists the operations of a lock file with their packages.
func places(text string) string {
	var list []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "operation "); ok {
			list = append(list, name)
		}
		if pkg, ok := strings.CutPrefix(line, "package "); ok {
			list[len(list)-1] += " " + pkg
		}
	}
	return strings.Join(list, ", ")
}

// A method can move in one change, whichever package is generated first.
func TestMovedOperation(t *testing.T) {
	dir := realTempDir(t)
	r, _ := relock(t, dir, Options{}, map[string]string{"go.mod": goMod, "a/p.go": named("pay", "id"), "c/p.go": annotated})
	keep(t, r)
	move := map[string]string{"a/p.go": "package p\n", "b/p.go": named("pay", "id")}
	for _, packages := range [][]string{{"./..."}, {"./a", "./b"}} {
		r, locks := relock(t, dir, Options{Packages: packages}, move)
		if len(r.Diagnostics) > 0 || places(locks["."]) != "example.com/m/c.P.Do example.com/m/c, pay example.com/m/b" {
			t.Errorf("%v: %v, %s", packages, r.Diagnostics, places(locks["."]))
		}
	}
	r, _ = relock(t, dir, Options{Packages: []string{"./b"}}, nil)
	keep(t, r)
	r, _ = relock(t, dir, Options{Packages: []string{"./a"}}, nil)
	keep(t, r)
	r, _ = relock(t, dir, Options{}, nil)
	if changes, err := r.Changes(); err != nil || len(changes)+len(r.Diagnostics) > 0 {
		t.Errorf("afterwards: %v, %v, %v", changes, r.Diagnostics, err)
	}
}

// A module whose path changes takes its operations' names along.
func TestRenamedModule(t *testing.T) {
	dir := realTempDir(t)
	r, _ := relock(t, dir, Options{}, map[string]string{"go.mod": goMod, "a/p.go": annotated, "b/p.go": named("pay", "id")})
	keep(t, r)
	renamed := map[string]string{"go.mod": "module example.com/n\n\ngo 1.26\n"}
	r, locks := relock(t, dir, Options{Packages: []string{"./b"}}, renamed)
	if len(r.Diagnostics) > 0 || places(locks["."]) != "example.com/m/a.P.Do example.com/m/a, pay example.com/n/b" {
		t.Errorf("the package whose names stay: %v, %s", r.Diagnostics, places(locks["."]))
	}
	r, _ = relock(t, dir, Options{}, nil)
	if got := messages(dir, r); !strings.HasPrefix(got, "a/p.go:5:2: the operation example.com/m/a.P.Do drifts from idem.lock: it is called example.com/n/a.P.Do now") || strings.Contains(got, "\n") {
		t.Errorf("all: %s", got)
	}
}
