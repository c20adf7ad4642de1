package compat

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/idemgen/idem/generator"
	idem "github.com/idemgen/idem/runtime"
)

// The values of which the generator records the keys, as the comment of its
// vectors says.
var (
	texts    = []string{"a", "ü/,%", "d~"}
	inside   = []string{"a", "ü/,%", ""} // a composite
	integers = []int64{1, -2, 127}
	counts   = []uint64{1, 2, 255}
	floats   = []float64{1, -0.5, 1e10}
	instants = []time.Time{
		time.Date(2006, 1, 2, 15, 4, 5, 0, time.UTC),
		time.Date(1969, 12, 31, 23, 59, 59, 999_000_000, time.UTC),
		time.Date(2038, 1, 19, 3, 14, 8, 1, time.UTC),
	}
)

// kinds are the types that key parts can have, each with what generated code
// writes for sample i.
var kinds = []struct {
	typ   string
	write func(k *idem.KeyBuilder, i int)
}{
	{"bool", func(k *idem.KeyBuilder, i int) { k.Bool(i == 0) }},
	{"int8", func(k *idem.KeyBuilder, i int) { k.Int(integers[i]) }},
	{"uint64", func(k *idem.KeyBuilder, i int) { k.Uint(counts[i]) }},
	{"float32", func(k *idem.KeyBuilder, i int) { k.Float32(float32(floats[i])) }},
	{"float64", func(k *idem.KeyBuilder, i int) { k.Float64(floats[i]) }},
	{"complex64", func(k *idem.KeyBuilder, i int) { k.Complex64(complex(float32(floats[i]), float32(floats[i]))) }},
	{"complex128", func(k *idem.KeyBuilder, i int) { k.Complex128(complex(floats[i], floats[i])) }},
	{"string", func(k *idem.KeyBuilder, i int) { k.String(texts[i]) }},
	{"[]byte", func(k *idem.KeyBuilder, i int) { k.Bytes([]byte(texts[i])) }},
	{"[3]byte", func(k *idem.KeyBuilder, i int) {
		b := byte(16 * i)
		k.ID([]byte{b + 1, b + 2, b + 3})
	}},
	{"time.Time", func(k *idem.KeyBuilder, i int) { k.Time(instants[i]) }},
	{"netip.Addr", func(k *idem.KeyBuilder, i int) { k.Text([]byte(texts[i]), nil) }},
	{"*int", func(k *idem.KeyBuilder, i int) {
		if i == 2 {
			k.Nil()
			return
		}
		k.Int(integers[i])
	}},
	{"[2]string", func(k *idem.KeyBuilder, i int) {
		k.Open()
		k.String(inside[i])
		k.String(inside[i])
		k.Close()
	}},
	{"[]string", func(k *idem.KeyBuilder, i int) {
		k.Open()
		for range []int{1, 2, 0}[i] {
			k.String(inside[i])
		}
		k.Close()
	}},
	{"map[string]bool", func(k *idem.KeyBuilder, i int) {
		k.Open()
		if i < 2 {
			k.String(texts[i])
			k.MapValue()
			k.Bool(i == 0)
		}
		k.Close()
	}},
	{"struct{ A string; B []int; C struct{} }", func(k *idem.KeyBuilder, i int) {
		k.Open()
		k.String(inside[i])
		k.Open()
		for range []int{1, 2, 0}[i] {
			k.Int(integers[i])
		}
		k.Close()
		k.Open()
		k.Close()
		k.Close()
	}},
	{"Tree", func(k *idem.KeyBuilder, i int) {
		k.Open()
		k.Int(integers[i])
		k.Open()
		k.Close()
		k.Close()
	}},
}

// recorded returns the vectors of each operation that idem.lock would hold for
// a package with the source.
func recorded(t *testing.T, source string) map[string][]string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "p.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	result, err := generator.Generate(generator.Options{Dir: dir, Packages: []string{"."}})
	if err != nil || len(result.Diagnostics) > 0 {
		t.Fatal(err, result.Diagnostics)
	}
	if len(result.Locks) != 1 {
		t.Fatalf("there are %d lock files", len(result.Locks))
	}
	vectors := map[string][]string{}
	operation := ""
	for line := range strings.Lines(string(result.Locks[0].Text)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "operation":
			operation = rest
		case "vector":
			vectors[operation] = append(vectors[operation], rest)
		}
	}
	return vectors
}

// What the generator records as keys of an operation is what the runtime makes.
func TestVectorsAreKeys(t *testing.T) {
	source := "package p\n\nimport (\n\"net/netip\"\n\"time\"\n)\n\nvar _ time.Time\nvar _ netip.Addr\n\n" +
		"type Tree struct { N int; Kids []Tree }\n\ntype P interface {\n"
	for i, kind := range kinds {
		source += fmt.Sprintf("//idem:key x, y\n//idem:name %s\nM%d(x %s, y string) error\n", name(i), i, kind.typ)
	}
	vectors := recorded(t, source+"}\n")
	for i, kind := range kinds {
		var want []string
		for sample := range 3 {
			var k idem.KeyBuilder
			kind.write(&k, sample)
			k.String(texts[sample])
			want = append(want, finish(t, &k, name(i)))
		}
		if got := vectors[name(i)]; !slices.Equal(got, want) {
			t.Errorf("%s: the generator records\n%q, and the runtime makes\n%q", kind.typ, got, want)
		}
	}
}

func name(i int) string { return fmt.Sprintf("p.M%d", i) }

// A key that is too long is cut where no escape is.
func TestVectorsOfLongKeys(t *testing.T) {
	source := "package p\n\ntype P interface {\n"
	// An escape of three bytes begins 178 to 185 bytes after the operation's
	// beginning, and the head of a long key has 184.
	names := map[string]string{}
	for n := 176; n < 184; n++ {
		method := fmt.Sprintf("M%d", n)
		names[method] = strings.Repeat("n", n)
		source += fmt.Sprintf("//idem:key x\n//idem:name %s\n%s(x [9]string) error\n", names[method], method)
	}
	vectors := recorded(t, source+"}\n")
	for _, operation := range names {
		var want []string
		for i := range 2 { // nothing but empty strings is no key
			var k idem.KeyBuilder
			k.Open()
			for range 9 {
				k.String(inside[i])
			}
			k.Close()
			want = append(want, finish(t, &k, operation))
		}
		if got := vectors[operation]; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func finish(t *testing.T, k *idem.KeyBuilder, operation string) string {
	t.Helper()
	key, err := k.Key("", operation)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// A part that is nil in a sample makes no key of its own.
func TestVectorsOfWhatMayBeMissing(t *testing.T) {
	vectors := recorded(t, "package p\n\ntype P interface {\n//idem:key x\n//idem:name nil\nM(x *string) error\n}\n")
	if got, want := vectors["nil"], []string{"nil/a", "nil/%C3%BC%2F%2C%25"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The instances of a generic interface have keys of their own.
func TestVectorsOfTypeParameters(t *testing.T) {
	vectors := recorded(t, "package p\n\ntype P[K comparable, V any] interface {\n//idem:key k, ids\nM(k K, ids []K) error\n}\n")
	operation := "example.com/m.P.M"
	var want []string
	for i := range 3 {
		var k idem.KeyBuilder
		k.Reflect(texts[i])
		k.Open()
		for range []int{1, 2, 0}[i] {
			k.Reflect(texts[i])
		}
		k.Close()
		want = append(want, finish(t, &k, operation+"["+idem.TypeName[string]()+","+idem.TypeName[string]()+"]"))
	}
	if got := vectors[operation]; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
