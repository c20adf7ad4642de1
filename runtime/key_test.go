package idem

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

type level uint8

func (l level) String() string { return "a name that may change" }

type identifier [4]byte

func (i identifier) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "id-%x", i[:]), nil }

// Keys are a stored format: these bytes must never change.
func TestKeyBytes(t *testing.T) {
	instant := time.Date(2026, 1, 2, 3, 4, 5, 60_000_000, time.FixedZone("somewhere", 3600))
	for _, c := range []struct {
		name  string
		parts func(k *KeyBuilder)
		want  string
	}{
		{"strings", func(k *KeyBuilder) { k.String("cus_9"); k.String("order-123") }, "op/cus_9/order-123"},
		{"escapes", func(k *KeyBuilder) { k.String("a/b%c(d),e=f g") }, "op/a%2Fb%25c%28d%29%2Ce%3Df%20g"},
		{"plain", func(k *KeyBuilder) { k.String("-._~:@+$&!*;") }, "op/-._~:@+$&!*;"},
		{"unicode", func(k *KeyBuilder) { k.String("é\x00\xff") }, "op/%C3%A9%00%FF"},
		{"bytes", func(k *KeyBuilder) { k.Bytes([]byte("a/b")) }, "op/a%2Fb"},
		{"booleans", func(k *KeyBuilder) { k.Bool(true); k.Bool(false) }, "op/true/false"},
		{"integers", func(k *KeyBuilder) { k.Int(math.MinInt64); k.Uint(math.MaxUint64); k.Int(0) }, "op/-9223372036854775808/18446744073709551615/0"},
		{"float32", func(k *KeyBuilder) { k.Float32(1.5) }, "op/3fc00000"},
		{"float64", func(k *KeyBuilder) { k.Float64(math.Copysign(0, -1)); k.Float64(0) }, "op/8000000000000000/0000000000000000"},
		{"complex", func(k *KeyBuilder) { k.Complex64(1 + 2i); k.Complex128(1i) }, "op/3f800000:40000000/0000000000000000:3ff0000000000000"},
		{"time", func(k *KeyBuilder) { k.Time(instant) }, "op/2026-01-02T02:04:05.06Z"},
		{"id", func(k *KeyBuilder) { k.ID([]byte{0, 0xab, 0xcd}) }, "op/00abcd"},
		{"text", func(k *KeyBuilder) { k.Text(netip.MustParseAddr("::1").MarshalText()) }, "op/::1"},
		{"nil", func(k *KeyBuilder) { k.String("a"); k.Nil() }, "op/a/%-"},
		{"list", func(k *KeyBuilder) { k.Open(); k.String("a"); k.String(""); k.Nil(); k.Close() }, "op/(a,%.,%-)"},
		{"nested", func(k *KeyBuilder) { k.Open(); k.Open(); k.Close(); k.Int(1); k.Close() }, "op/((),1)"},
		{"empty list", func(k *KeyBuilder) { k.Int(1); k.Open(); k.Close() }, "op/1/()"},
		{"map", func(k *KeyBuilder) {
			k.Open()
			for _, name := range []string{"a", "b"} {
				k.String(name)
				k.MapValue()
				k.Open()
				k.Int(1)
				k.Close()
			}
			k.Close()
		}, "op/(a=(1),b=(1))"},
		{"reflect string", func(k *KeyBuilder) { k.Reflect("a") }, "op/a"},
		{"reflect enum", func(k *KeyBuilder) { k.Reflect(level(3)) }, "op/%u3"},
		{"reflect int", func(k *KeyBuilder) { k.Reflect(-3) }, "op/%i-3"},
		{"reflect bool", func(k *KeyBuilder) { k.Reflect(true) }, "op/%btrue"},
		{"reflect float", func(k *KeyBuilder) { k.Reflect(float32(1.5)) }, "op/%f3fc00000"},
		{"reflect complex", func(k *KeyBuilder) { k.Reflect(complex64(1)) }, "op/%c3f800000:00000000"},
		{"reflect text", func(k *KeyBuilder) { k.Reflect(identifier{1}) }, "op/%tid-01000000"},
		{"reflect pointer text", func(k *KeyBuilder) { k.Reflect(big.NewInt(7)) }, "op/%t7"},
		{"reflect time", func(k *KeyBuilder) { k.Reflect(instant) }, "op/%T2026-01-02T02:04:05.06Z"},
		{"reflect array", func(k *KeyBuilder) { k.Reflect([2]byte{1, 2}) }, "op/%a0102"},
		{"reflect bytes", func(k *KeyBuilder) { k.Reflect([]byte("ha256:")) }, "op/%lha256:"},
		{"reflect slice", func(k *KeyBuilder) { k.Reflect([]string{"a", "b"}) }, "op/%l(a,b)"},
		{"reflect map", func(k *KeyBuilder) { k.Reflect(map[level]bool{2: true, 1: false}) }, "op/%m(%u1=%bfalse,%u2=%btrue)"},
		{"reflect struct", func(k *KeyBuilder) { k.Reflect(struct{ A, B string }{"a", ""}) }, "op/%v(a,%.)"},
		{"reflect nil", func(k *KeyBuilder) { k.Int(1); k.Reflect(nil); k.Reflect((*int)(nil)) }, "op/1/%-/%-"},
		{"reflect uuid", func(k *KeyBuilder) { k.Reflect([16]byte{15: 1}) }, "op/%a00000000000000000000000000000001"},
		{"reflect net.IP", func(k *KeyBuilder) { k.Reflect(net.IPv4(10, 0, 0, 1)) }, "op/%t10.0.0.1"},
		{"reflect netip.Prefix", func(k *KeyBuilder) { k.Reflect(netip.MustParsePrefix("10.0.0.0/8")) }, "op/%t10.0.0.0%2F8"},
		{"long", func(k *KeyBuilder) { k.String(strings.Repeat("0123456789", 30)) },
			"op/" + strings.Repeat("0123456789", 18) + "0%sha256:3c0f0ef3c01f3bf28ff65b6f34c3c38e7e79b4b8506cc20349370741313f04df"},
		{"long, cut before an escape", func(k *KeyBuilder) { k.String(strings.Repeat("x", 180) + strings.Repeat("/", 60)) },
			"op/" + strings.Repeat("x", 180) + "%sha256:9b23872ebe96a6980245d3d370586d9c8b0e1de9f7c59b070d8dafcf066b536e"},
	} {
		var k KeyBuilder
		c.parts(&k)
		got, err := k.Key("", "op")
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func TestKeyPrefixes(t *testing.T) {
	for _, c := range []struct{ scope, operation, want string }{
		{"", "example.com/pay.Payments.Charge", "example.com%2Fpay.Payments.Charge/a"},
		{"acme", "charge", "@acme/charge/a"},
		{"a/b", "charge", "@a%2Fb/charge/a"},
		{"", "@acme", "%40acme/a"},
		{"", "Put[string,map[int]bool]", "Put%5Bstring%2Cmap%5Bint%5Dbool%5D/a"},
	} {
		var k KeyBuilder
		k.String("a")
		if got, err := k.Key(c.scope, c.operation); got != c.want || err != nil {
			t.Errorf("%q, %q: %q, %v; want %q", c.scope, c.operation, got, err, c.want)
		}
	}
	if got := childKey("op/a", "mail/1"); got != "op/a/mail%2F1" {
		t.Errorf("child key %q", got)
	}
	if got := childKey("op/"+strings.Repeat("a", 250), "mail"); len(got) != maxKey || got == childKey("op/"+strings.Repeat("a", 250), "text") {
		t.Errorf("long child key %q", got)
	}
}

func TestMissingParts(t *testing.T) {
	full := func(k *KeyBuilder) { k.Int(0) }
	for name, part := range map[string]func(k *KeyBuilder){
		"string": func(k *KeyBuilder) { k.String("") },
		"bytes":  func(k *KeyBuilder) { k.Bytes(nil) },
		"text":   func(k *KeyBuilder) { k.Text(nil, nil) },
		"id":     func(k *KeyBuilder) { k.ID(make([]byte, 16)) },
		"time":   func(k *KeyBuilder) { k.Time(time.Time{}) },
	} {
		var k KeyBuilder
		full(&k)
		part(&k)
		full(&k)
		if _, missing, err := k.finish("", "op"); missing != 1 || err != nil {
			t.Errorf("%s: missing %d, %v; want 1", name, missing, err)
		}
		if _, err := k.Key("", "op"); !errors.Is(err, ErrEmptyKey) {
			t.Errorf("%s: Key: %v, want ErrEmptyKey", name, err)
		}
	}
	for name, parts := range map[string]func(k *KeyBuilder){
		"no part":          func(*KeyBuilder) {},
		"nil alone":        func(k *KeyBuilder) { k.Nil() },
		"empty list alone": func(k *KeyBuilder) { k.Open(); k.Close() },
		"nothing but nils": func(k *KeyBuilder) { k.Nil(); k.Open(); k.Close(); k.Nil() },
	} {
		var k KeyBuilder
		parts(&k)
		if _, missing, err := k.finish("", "op"); missing != 0 || err != nil {
			t.Errorf("%s: missing %d, %v; want 0", name, missing, err)
		}
	}
}

func TestKeyErrorNamesThePart(t *testing.T) {
	broken := errors.New("broken")
	var k KeyBuilder
	k.Int(1)
	k.Open()
	k.Text(nil, broken)
	k.Close()
	k.Text(nil, errors.New("later"))
	if _, _, err := k.finish("", "op"); err != broken || k.failedPart() != 1 {
		t.Errorf("%v at part %d, want the first error, at part 1", err, k.failedPart())
	}
	var top KeyBuilder
	top.Int(1)
	top.Text(nil, broken)
	if top.failedPart() != 1 {
		t.Errorf("failed part %d, want 1", top.failedPart())
	}
	if _, err := top.Key("", "op"); err != broken {
		t.Errorf("Key: %v", err)
	}
}

func TestReflectRefusesWhatHasNoStableEncoding(t *testing.T) {
	type pair struct{ A, b int }
	for _, v := range []any{
		func() {}, make(chan int), uintptr(1), &struct{ A int }{}, []any{1}, map[float64]int{}, map[[1]int]int{},
		pair{1, 2}, struct{ F func() }{}, [1]map[string]any{}, new([]int),
	} {
		var k KeyBuilder
		k.Reflect(v)
		if _, _, err := k.finish("", "op"); err == nil {
			t.Errorf("%T was accepted", v)
		}
	}
	type list struct{ Next []list }
	var k KeyBuilder
	k.Int(1)
	k.Reflect(list{[]list{{}, {[]list{{}}}}})
	if key, err := k.Key("", "op"); err != nil || key != "op/1/%v(%l(%v(%l()),%v(%l(%v(%l())))))" {
		t.Errorf("recursive value: %q, %v", key, err)
	}
}

func TestMapOrderDoesNotCount(t *testing.T) {
	words := strings.Fields("zeta alpha mu beta / % a b c d e f g h")
	derive := func() (string, string) {
		m := map[string]int{}
		for _, i := range rand.Perm(len(words)) {
			m[words[i]] = i
		}
		var k KeyBuilder
		k.Open()
		for _, name := range SortedKeys(m) {
			k.String(name)
			k.MapValue()
			k.Int(int64(m[name]))
		}
		k.Close()
		key, err := k.Key("", "op")
		if err != nil {
			t.Fatal(err)
		}
		var f FingerprintBuilder
		f.Arg(0)
		f.Reflect(m)
		sum, err := f.sum()
		if err != nil {
			t.Fatal(err)
		}
		return key, string(sum)
	}
	key, sum := derive()
	for range 200 {
		if k, s := derive(); k != key || s != sum {
			t.Fatalf("%q, want %q", k, key)
		}
	}
}

func TestSortedKeys(t *testing.T) {
	type name string
	check := func(got, want any) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	check(SortedKeys(map[bool]int{true: 1, false: 1}), []bool{false, true})
	check(SortedKeys(map[uint8]int{200: 1, 3: 1}), []uint8{3, 200})
	check(SortedKeys(map[int]int{2: 1, -3: 1}), []int{-3, 2})
	check(SortedKeys(map[int64]int{2: 1, -3: 1}), []int64{-3, 2})
	check(SortedKeys(map[int8]int{2: 1, -3: 1}), []int8{-3, 2})
	check(SortedKeys(map[name]int{"b": 1, "B": 1, "ä": 1}), []name{"B", "b", "ä"})
}

func TestAsBytes(t *testing.T) {
	type color byte
	if got := AsBytes([]color{0, 1, 255}); string(got) != "\x00\x01\xff" {
		t.Errorf("got %x", got)
	}
}

func TestTimesOutsideOfFourDigitYearsDiffer(t *testing.T) {
	seen := map[string]time.Time{}
	for _, year := range []int{-10000, -1, 0, 1, 9999, 10000, 123456} {
		at := time.Date(year, 5, 6, 7, 8, 9, 1, time.UTC)
		var k KeyBuilder
		k.Time(at)
		key, err := k.Key("", "op")
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[key]; ok {
			t.Errorf("%v and %v share %q", at, other, key)
		}
		seen[key] = at
	}
}

func TestKeyAllocatesTheStringAlone(t *testing.T) {
	m := NewMethod(New(localNothing{}), MethodOptions[int]{Operation: "op"})
	got := testing.AllocsPerRun(100, func() {
		var k KeyBuilder
		k.String("cus_9")
		k.Int(1234567)
		k.String("order-123")
		if _, missing, err := k.finish("", m.operation.prefix); missing >= 0 || err != nil {
			t.Fatal(missing, err)
		}
	})
	if got != 1 {
		t.Errorf("%v allocations, want 1", got)
	}
	got = testing.AllocsPerRun(100, func() {
		var f FingerprintBuilder
		f.Arg(0)
		f.Open()
		f.Field("Amount")
		f.Int(1234)
		f.Field("Currency")
		f.String("EUR")
		f.Close()
		if _, err := f.sum(); err != nil {
			t.Fatal(err)
		}
	})
	if got != 1 {
		t.Errorf("fingerprint: %v allocations, want 1", got)
	}
	request := any(link{Name: "a"})
	got = testing.AllocsPerRun(100, func() {
		var k KeyBuilder
		k.Reflect(request.(link).Name)
		var f FingerprintBuilder
		f.Arg(0)
		f.Reflect(request)
		if _, missing, err := k.finish("", m.operation.prefix); missing >= 0 || err != nil {
			t.Fatal(missing, err)
		}
		if _, err := f.sum(); err != nil {
			t.Fatal(err)
		}
	})
	if got > 3 { // the key, the fingerprint, the string as an interface
		t.Errorf("reflection: %v allocations, want 3", got)
	}
}

// localNothing is a backend that no test of encodings calls.
type localNothing struct{ Backend }
