package idem

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// keyOf returns the key of a call with the one part v.
func keyOf(t *testing.T, v any) string {
	t.Helper()
	var k KeyBuilder
	k.Int(1) // so that no value leaves the key empty
	k.Reflect(v)
	key, err := k.Key("", "op")
	if err != nil {
		t.Errorf("%T: %v", v, err)
	}
	return key
}

type (
	color byte
	ratio float64
	stamp time.Time
	kin   []kin
	tree  map[string]tree
	hop   *jump
	jump  *hop
)

func (r ratio) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%v", float64(r)), nil }

// reason has a text even if it holds nothing, and cannot always be compared.
type reason struct{ err error }

func (r reason) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "because %v", r.err), nil }

// appends has AppendText alone, which is no text form.
type appends struct{ N int }

func (appends) AppendText(b []byte) ([]byte, error) { return b, nil }

func TestReflectTellsTypesApart(t *testing.T) {
	seen := map[string]any{}
	for _, v := range []any{
		5, uint(5), "5", 5.0, float32(5), 5i, complex64(5i), true, "true", nil, "", []byte{}, []byte("5"), [1]byte{'5'}, time.Unix(5, 0),
		[]int{5}, []uint{5}, []string{"5"}, [1]int{5}, struct{ A int }{5}, struct{ A string }{"5"}, struct{ A ratio }{5},
		map[string]int{"5": 5}, map[int]int{5: 5}, map[int]string{5: "5"}, [][]int{{5}}, []*int{nil}, []string{}, []string{""},
	} {
		var k KeyBuilder
		k.Int(1)
		k.Open()
		k.Reflect(v)
		k.Close()
		key, err := k.Key("", "op")
		if err != nil {
			t.Errorf("%#v: %v", v, err)
		}
		if other, twice := seen[key]; twice {
			t.Errorf("%#v and %#v share %q", v, other, key)
		}
		seen[key] = v
	}
}

func TestReflectTakesAlikeWhatIsAlike(t *testing.T) {
	five := 5
	array := [2]byte{1, 2}
	at := time.Unix(5, 6)
	for _, c := range [][2]any{
		{5, int8(5)},
		{5, &five},
		{&array, array},
		{[2]color{1, 2}, array},
		{&[2]color{1, 2}, array},
		{[]color{1, 2}, []byte{1, 2}},
		{[][2]color{{1, 2}}, [][2]byte{array}},
		{[]int(nil), []int{}},
		{map[string]int(nil), map[string]int{}},
		{at, at.In(time.FixedZone("", 3600))},
		{stamp(at), at},
		{math.NaN(), math.NaN()},
		{[]float32{math.Float32frombits(0x7f800001)}, []float32{math.Float32frombits(0x7f800001)}},
	} {
		if a, b := keyOf(t, c[0]), keyOf(t, c[1]); a != b {
			t.Errorf("%#v gives %q, %#v gives %q", c[0], a, c[1], b)
		}
	}
}

func TestFloatsCountByTheirBits(t *testing.T) {
	negative := math.Copysign(0, -1)
	quiet, signalling := math.Float32frombits(0x7fc00001), math.Float32frombits(0x7f800001)
	for _, c := range [][2]any{
		{0.0, negative},
		{math.NaN(), math.Float64frombits(math.Float64bits(math.NaN()) ^ 2)},
		{quiet, signalling},
		{complex(0, negative), 0i},
	} {
		if a, b := keyOf(t, c[0]), keyOf(t, c[1]); a == b {
			t.Errorf("%v and %v share %q", c[0], c[1], a)
		}
		if a, b := sumOf(t, c[0]), sumOf(t, c[1]); string(a) == string(b) {
			t.Errorf("%v and %v share a fingerprint", c[0], c[1])
		}
	}
	for _, f := range []float32{1.5, quiet, float32(math.Inf(-1)), math.SmallestNonzeroFloat32} {
		narrow := encoded(t, func(b *FingerprintBuilder) { b.Float32(f) })
		if wide := encoded(t, func(b *FingerprintBuilder) { b.Float64(float64(f)) }); wide != narrow {
			t.Errorf("widening %v: %x, %x", f, narrow, wide)
		}
	}
}

func TestZeroesOfTextTypes(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{ratio(0), ""},
		{ratio(math.Copysign(0, -1)), ""}, // equals its zero, as generated code finds with ==
		{ratio(2), "s1:2"},
		{reason{}, "s13:because <nil>"},
		{reason{errors.New("x")}, "s9:because x"},
		{appends{3}, "{1:Ni3;}"},
	} {
		if got := encoded(t, func(f *FingerprintBuilder) { f.Reflect(c.v) }); got != c.want {
			t.Errorf("%#v: %q, want %q", c.v, got, c.want)
		}
	}
}

// layers has the methods of its innermost field, which know nothing of N.
type layers struct{ Layer }

// Layer is exported so that reflection may read it.
type Layer struct {
	ratio
	N int
}

type wrapsTime struct{ time.Time }

func TestTextFromBelowDoesNotHideFields(t *testing.T) {
	if string(sumOf(t, layers{Layer{1, 2}})) == string(sumOf(t, layers{Layer{1, 3}})) {
		t.Error("a field beside an embedded text does not count")
	}
	at := time.Unix(5, 6)
	if a, b := keyOf(t, wrapsTime{at}), keyOf(t, wrapsTime{at.In(time.FixedZone("", 60))}); a != b {
		t.Errorf("one instant has the keys %q and %q", a, b)
	}
}

func TestKeysOfValuesThatRunInACircle(t *testing.T) {
	circle := kin{nil, nil}
	circle[0], circle[1] = circle, circle
	loop := tree{}
	loop["a"], loop["b"] = loop, loop
	long, doubling := strings.Repeat("b", 1<<16), tree{}
	for range 60 {
		doubling = tree{"a": doubling, long: doubling}
	}
	for _, v := range []any{circle, loop, doubling} {
		var k KeyBuilder
		k.Int(1)
		k.Reflect(v)
		_, _, err := k.finish("", "op")
		if !errors.Is(err, errDepth) && !errors.Is(err, errTooLarge) || k.failedPart() != 1 {
			t.Errorf("%v at part %d", err, k.failedPart())
		}
	}
	if got := keyOf(t, kin{{}, {{}}}); got != "op/1/%l(%l(),%l(%l()))" {
		t.Errorf("got %q", got)
	}
	var k KeyBuilder
	writeKin(&k, circle)
	if _, _, err := k.finish("", "op"); !errors.Is(err, errDepth) {
		t.Errorf("typed code: %v", err)
	}
	var f FingerprintBuilder
	f.Arg(0)
	f.Reflect(hop(nil))
	if _, err := f.sum(); err == nil {
		t.Error("pointers to nothing but pointers were accepted")
	}
}

// writeKin is what generated code looks like for a recursive type.
func writeKin(k *KeyBuilder, v kin) {
	if k.Open() {
		for _, e := range v {
			writeKin(k, e)
		}
		k.Close()
	}
}
