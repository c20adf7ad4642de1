package compat

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idem/generator"
	idem "github.com/idemgen/idem/runtime"
	"github.com/idemgen/idem/runtime/memory"
)

// changes are requests before and after a deploy that changed their type.
var changes = []struct {
	was, is any
	differs bool
}{
	{struct{ A int }{1}, struct{ A uint8 }{1}, false},
	{struct{ A int }{1}, struct{ A int }{1}, false},
	{struct {
		A int
		B string
	}{1, "b"}, struct {
		B, C string
		A    int
	}{"b", "", 1}, false},
	{struct{ A float32 }{1.5}, struct{ A float64 }{1.5}, false},
	{struct{ A complex64 }{1i}, struct{ A complex128 }{1i}, false},
	{struct{ A [2]int }{[2]int{1, 2}}, struct{ A [3]int }{[3]int{1, 2}}, false},
	{struct{ A map[int8]bool }{map[int8]bool{1: true}}, struct{ A map[uint64]bool }{map[uint64]bool{1: true}}, false},
	{struct{ A []*int }{[]*int{new(1)}}, struct{ A []*uint }{[]*uint{new(uint(1))}}, false},
	{[]int{1}, []int64{1}, false},

	{struct{ A, B int }{1, 2}, struct{ A int }{1}, true},
	{struct{ A int }{1}, struct{ a, B int }{0, 1}, true},
	{struct{ Ab int }{1}, struct{ AB int }{1}, true},
	{struct{ A int }{1}, struct{ A float64 }{1}, true},
	{struct{ A int }{1}, struct{ A bool }{true}, true},
	{struct{ A int }{1}, struct{ A string }{"1"}, true},
	{struct{ A string }{"a"}, struct{ A []byte }{[]byte("a")}, true},
	{struct{ A int }{1}, struct{ A *int }{new(1)}, true},
	{struct{ A int }{1}, struct{ A []int }{[]int{1}}, true},
	{struct{ A []int }{[]int{1}}, struct{ A [1]int }{[1]int{1}}, true},
	{struct{ A [3]int }{[3]int{1, 2, 3}}, struct{ A [2]int }{[2]int{1, 2}}, true},
	{struct{ A struct{ B int } }{struct{ B int }{1}}, struct{ A struct{ C int } }{struct{ C int }{1}}, true},
	{struct{ A map[int]bool }{map[int]bool{1: true}}, struct{ A map[string]bool }{map[string]bool{"1": true}}, true},
	{struct{ A time.Time }{time.Unix(1, 0)}, struct{ A int64 }{1}, true},
	{struct{ A complex128 }{1}, struct{ A float64 }{1}, true},
	{[]int{1}, []string{"1"}, true},
}

// A change of a type drifts from what is recorded if, and only if, the runtime
// would take a retry that crosses the deploy for another request.
func TestDriftOfFingerprints(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	generate := func(typ func(i int) any) *generator.Result {
		source := "package p\n\nimport \"time\"\n\nvar _ time.Time\n\ntype P interface {\n"
		for i := range changes {
			source += fmt.Sprintf("//idem:key id\n//idem:name m%d\nM%d(id string, x %T) error\n", i, i, typ(i))
		}
		for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "p.go": source + "}\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		result, err := generator.Generate(generator.Options{Dir: dir, Packages: []string{"."}})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	before := generate(func(i int) any { return changes[i].was })
	if err := generator.Commit([]generator.Change{{Path: before.Locks[0].Path, State: generator.Missing, New: before.Locks[0].Text}}); err != nil {
		t.Fatal(err)
	}
	drifts := map[string]bool{}
	for _, d := range generate(func(i int) any { return changes[i].is }).Diagnostics {
		name, _, _ := strings.Cut(d.Message, " drifts from idem.lock: ")
		if !strings.Contains(d.Message, "ErrKeyReused") {
			t.Error(d)
		}
		drifts[name] = true
	}
	for i, c := range changes {
		store := idem.New(memory.New())
		run := func(request any) error {
			_, err := idem.Do(t.Context(), store, idem.Call{Operation: "do", Key: "k", Request: request}, func(_ context.Context) (int, error) { return 0, nil })
			return err
		}
		if err := run(c.was); err != nil {
			t.Fatal(err)
		}
		if refused := errors.Is(run(c.is), idem.ErrKeyReused); refused != c.differs {
			t.Errorf("%T, then %T: refused is %v", c.was, c.is, refused)
		}
		if drift := drifts[fmt.Sprint("m", i)]; drift != c.differs {
			t.Errorf("%T, then %T: drift is %v", c.was, c.is, drift)
		}
		if err := store.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
