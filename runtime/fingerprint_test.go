package idem

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// encoded returns the canonical encoding of one argument.
func encoded(t *testing.T, write func(*FingerprintBuilder)) string {
	t.Helper()
	var f FingerprintBuilder
	f.Arg(0)
	write(&f)
	if f.err != nil {
		t.Errorf("encoding: %v", f.err)
	}
	return string(f.bytes())
}

// Canonical encodings are a stored format: these bytes must never change.
func TestCanonicalBytes(t *testing.T) {
	instant := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("somewhere", 3600))
	text := func(f *FingerprintBuilder) { f.Text(netip.MustParseAddr("::1").MarshalText()) }
	for _, c := range []struct {
		name  string
		write func(f *FingerprintBuilder)
		want  string
	}{
		{"bool", func(f *FingerprintBuilder) { f.Bool(true) }, "t"},
		{"int", func(f *FingerprintBuilder) { f.Int(-12) }, "i-12;"},
		{"uint", func(f *FingerprintBuilder) { f.Uint(math.MaxUint64) }, "i18446744073709551615;"},
		{"float", func(f *FingerprintBuilder) { f.Float64(1.5) }, "d\x3f\xf8\x00\x00\x00\x00\x00\x00"},
		{"float32", func(f *FingerprintBuilder) { f.Float32(1.5) }, "d\x3f\xf8\x00\x00\x00\x00\x00\x00"},
		{"minus zero", func(f *FingerprintBuilder) { f.Float64(math.Copysign(0, -1)) }, "d\x80\x00\x00\x00\x00\x00\x00\x00"},
		{"complex", func(f *FingerprintBuilder) { f.Complex64(1i) }, "c\x00\x00\x00\x00\x00\x00\x00\x00\x3f\xf0\x00\x00\x00\x00\x00\x00"},
		{"string", func(f *FingerprintBuilder) { f.String("a:b") }, "s3:a:b"},
		{"text", text, "s3:::1"},
		{"bytes", func(f *FingerprintBuilder) { f.Bytes([]byte{0, 1}) }, "b2:\x00\x01"},
		{"id", func(f *FingerprintBuilder) { f.ID([]byte{0, 1}) }, "b2:\x00\x01"},
		{"time", func(f *FingerprintBuilder) { f.Time(instant) }, "T1767319445:6;"},
		{"pointer to zero", func(f *FingerprintBuilder) { f.Pointer(); f.Int(0) }, "pi0;"},
		{"pointer to empty", func(f *FingerprintBuilder) { f.Pointer(); f.Open(); f.Close() }, "p{}"},
		{"struct", func(f *FingerprintBuilder) {
			f.Open()
			f.Field("A")
			f.Int(1)
			f.Field("B")
			f.Int(0)
			f.Field("C")
			f.Nil()
			f.Field("D")
			f.Open()
			f.Field("E")
			f.String("")
			f.Close()
			f.Field("F")
			f.Pointer()
			f.String("")
			f.Close()
		}, "{1:Ai1;1:Fps0:}"},
		{"array", func(f *FingerprintBuilder) {
			f.Open()
			for i := range 3 {
				f.Index(i)
				f.Bool(i == 1)
			}
			f.Close()
		}, "{i1;t}"},
		{"list", func(f *FingerprintBuilder) {
			f.OpenList(5)
			f.Int(0)
			f.Nil()
			f.Zero()
			f.Open()
			f.Close()
			f.OpenList(0)
			f.Close()
			f.Close()
		}, "[5:i0;nz{}[0:]]"},
		{"map", func(f *FingerprintBuilder) {
			f.OpenMap(1)
			f.String("")
			f.MapValue()
			f.Bool(false)
			f.Close()
		}, "<1:s0:f>"},
		{"zeros", func(f *FingerprintBuilder) {
			f.Open()
			for i, zero := range []func(){
				func() { f.Zero() }, func() { f.Nil() }, func() { f.Bool(false) }, func() { f.Int(0) }, func() { f.Uint(0) },
				func() { f.Float64(0) }, func() { f.Complex128(0) }, func() { f.String("") }, func() { f.Bytes(nil) },
				func() { f.ID(make([]byte, 4)) }, func() { f.Text(nil, nil) }, func() { f.Time(time.Time{}) },
				func() { f.Open(); f.Close() }, func() { f.OpenList(0); f.Close() }, func() { f.OpenMap(0); f.Close() },
			} {
				f.Field(fmt.Sprint("field", i))
				zero()
			}
			f.Close()
		}, ""},
	} {
		if got := encoded(t, c.write); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestFingerprintBytes(t *testing.T) {
	var f FingerprintBuilder
	f.Arg(0)
	f.String("a")
	f.Arg(1)
	f.Int(0) // zero: left out
	f.Arg(2)
	f.Int(7)
	got, err := f.sum()
	const want = "0100%x02%x"
	a, seven := sha256.Sum256([]byte("s1:a")), sha256.Sum256([]byte("i7;"))
	if hex := fmt.Sprintf("%x", got); err != nil || hex != fmt.Sprintf(want, a[:16], seven[:16]) {
		t.Errorf("%s, %v", hex, err)
	}
	order := struct {
		ID    [16]byte
		Lines []struct{ SKU string }
		Total *big.Int
		Host  net.IP
		Paid  bool
	}{[16]byte{15: 1}, []struct{ SKU string }{{"a"}, {}}, big.NewInt(-7), net.IPv4(10, 0, 0, 1), false}
	const pinned = "01" + "00" + "51ef0c349ef0f23ae6eea8405cdd20c6" + "01" + "e4eae8499927fdd0f612a5a9555e4db6"
	if sum := fmt.Sprintf("%x", sumOf(t, order, -1.5)); sum != pinned {
		t.Errorf("an order: %s, want %s", sum, pinned)
	}
	var none *FingerprintBuilder
	if sum, err := none.sum(); sum != nil || err != nil {
		t.Errorf("no builder: %x, %v", sum, err)
	}
	var empty FingerprintBuilder
	if sum, err := empty.sum(); string(sum) != "\x01" || err != nil {
		t.Errorf("no arguments: %x, %v", sum, err)
	}
}

func sumOf(t *testing.T, args ...any) []byte {
	t.Helper()
	var f FingerprintBuilder
	for i, a := range args {
		f.Arg(i)
		f.Reflect(a)
	}
	sum, err := f.sum()
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// What a rolling deploy may change in a request type changes no fingerprint.
func TestFingerprintSurvivesGrowth(t *testing.T) {
	type before struct {
		Amount int32
		Tags   []string
	}
	type money int64
	type after struct {
		Note   string
		Tags   []string
		Extra  *struct{ A, B int }
		Labels map[string]string
		Amount money
		Sizes  [3]int
		Inner  struct{ X, Y float64 }
		At     time.Time
	}
	old := sumOf(t, before{Amount: 5, Tags: []string{"a"}})
	if grown := sumOf(t, after{Amount: 5, Tags: []string{"a"}, Labels: map[string]string{}}); !bytes.Equal(old, grown) {
		t.Errorf("%x, want %x", grown, old)
	}
	if other := sumOf(t, after{Amount: 5, Tags: []string{"a"}, Extra: &struct{ A, B int }{}}); bytes.Equal(old, other) {
		t.Error("a pointer to a zero value is as good as none")
	}
}

func TestDifferingNamesTheArgument(t *testing.T) {
	type request struct{ A int }
	for _, c := range []struct {
		a, b     []any
		argument int
		ok       bool
	}{
		{[]any{1, 2}, []any{1, 2}, 0, false},
		{[]any{1, 2}, []any{1, 3}, 1, true},
		{[]any{1, 2}, []any{0, 2}, 0, true},
		{[]any{0, 2}, []any{1, 2}, 0, true},
		{[]any{1, 0}, []any{1, 2}, 1, true},
		{[]any{1, 2}, []any{1, 0}, 1, true},
		{[]any{1, 2, 3, 4, 5, 6, 7, request{8}}, []any{1, 2, 3, 4, 5, 6, 7, request{9}}, 7, true},
	} {
		if i, ok := differing(sumOf(t, c.a...), sumOf(t, c.b...)); i != c.argument || ok != c.ok {
			t.Errorf("%v and %v: %d, %v; want %d, %v", c.a, c.b, i, ok, c.argument, c.ok)
		}
	}
	for _, broken := range [][]byte{nil, {2}, {1, 2}} {
		if _, ok := differing(broken, []byte{1}); ok {
			t.Errorf("% x was taken for a fingerprint", broken)
		}
	}
}

type link struct {
	Name string
	Next *link
	More []*link
}

// writeLink is what generated code looks like for a recursive type.
func writeLink(f *FingerprintBuilder, l *link) {
	if l == nil {
		f.Nil()
		return
	}
	f.Pointer()
	if !f.Open() {
		return
	}
	f.Field("More")
	if f.OpenList(len(l.More)) {
		for _, m := range l.More {
			writeLink(f, m)
		}
		f.Close()
	}
	f.Field("Name")
	f.String(l.Name)
	f.Field("Next")
	writeLink(f, l.Next)
	f.Close()
}

func TestValuesThatRunInACircle(t *testing.T) {
	circle := &link{Name: "a"}
	circle.Next = circle
	fan := &link{Name: "b"}
	fan.More = []*link{fan, fan}
	var wide *link
	name := strings.Repeat("w", 1<<20)
	for range 40 {
		wide = &link{Name: name, More: []*link{wide, wide}}
	}
	for shape, v := range map[string]*link{"circle": circle, "fan": fan, "doubling": wide} {
		for how, write := range map[string]func(*FingerprintBuilder){
			"typed":   func(f *FingerprintBuilder) { writeLink(f, v) },
			"reflect": func(f *FingerprintBuilder) { f.Reflect(v) },
		} {
			var f FingerprintBuilder
			f.Arg(3)
			write(&f)
			if _, err := f.sum(); !errors.Is(err, errDepth) && !errors.Is(err, errTooLarge) || f.failedArgument() != 3 {
				t.Errorf("%s, %s: %v at argument %d", shape, how, err, f.failedArgument())
			}
		}
	}
	long := &link{}
	for range maxDepth - 2 {
		long = &link{Next: long}
	}
	var f FingerprintBuilder
	f.Arg(0)
	writeLink(&f, long)
	if _, err := f.sum(); err != nil {
		t.Errorf("a long list: %v", err)
	}
}

func TestReflectWritesWhatTypedCodeWrites(t *testing.T) {
	type request struct {
		ID       identifier
		Addr     netip.Addr
		Big      *big.Int
		Level    level
		At       time.Time
		Blob     []byte
		Hash     [3]byte
		Names    map[level]string
		Link     *link
		hidden   string
		Callback func()
		Any      any
	}
	r := request{
		ID: identifier{1}, Addr: netip.MustParseAddr("10.0.0.1"), Big: big.NewInt(9), Level: 3, At: time.Unix(5, 6),
		Blob: []byte("x"), Hash: [3]byte{1}, Names: map[level]string{2: "b", 1: "a"}, Link: &link{Name: "n"}, hidden: "h", Any: 1,
	}
	want := encoded(t, func(f *FingerprintBuilder) {
		f.Open()
		f.Field("Addr")
		f.Text(r.Addr.AppendText(f.Buffer()))
		f.Field("At")
		f.Time(r.At)
		f.Field("Big")
		f.Pointer()
		f.Text(r.Big.AppendText(f.Buffer()))
		f.Field("Blob")
		f.Bytes(r.Blob)
		f.Field("Hash")
		f.ID(r.Hash[:])
		f.Field("ID")
		f.Text(r.ID.MarshalText())
		f.Field("Level")
		f.Uint(uint64(r.Level))
		f.Field("Link")
		writeLink(f, r.Link)
		f.Field("Names")
		f.OpenMap(2)
		for _, k := range SortedKeys(r.Names) {
			f.Uint(uint64(k))
			f.MapValue()
			f.String(r.Names[k])
		}
		f.Close()
		f.Close()
	})
	if got := encoded(t, func(f *FingerprintBuilder) { f.Reflect(r) }); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := encoded(t, func(f *FingerprintBuilder) { f.Reflect(request{}) }); got != "" {
		t.Errorf("a zero request: %q", got)
	}
}

func TestReflectOfWhatHasNoEncoding(t *testing.T) {
	type pointer *pointer
	for _, v := range []any{func() {}, make(chan int), struct{ f func() }{}, []any{1}, map[float64]int{}, uintptr(1), pointer(nil)} {
		var f FingerprintBuilder
		f.Arg(0)
		f.Reflect(v)
		if _, err := f.sum(); err == nil {
			t.Errorf("%T was accepted", v)
		}
	}
	if got := encoded(t, func(f *FingerprintBuilder) { f.Reflect(nil) }); got != "" {
		t.Errorf("nil: %q", got)
	}
	if got := encoded(t, func(f *FingerprintBuilder) { f.Reflect(struct{}{}) }); got != "" {
		t.Errorf("struct{}: %q", got)
	}
}

// embedsTime has the text of its time, which knows nothing of its amount.
type embedsTime struct {
	time.Time
	Amount int
}

func TestPromotedTextDoesNotStandForTheWhole(t *testing.T) {
	at := time.Unix(1, 0)
	if bytes.Equal(sumOf(t, embedsTime{at, 1}), sumOf(t, embedsTime{at, 2})) {
		t.Error("the amount does not count")
	}
	if bytes.Equal(sumOf(t, embedsTime{at, 1}), sumOf(t, embedsTime{at.Add(1), 1})) {
		t.Error("the time does not count")
	}
}

func TestLargeArgumentsEncodeAsSmallOnes(t *testing.T) {
	write := func(f *FingerprintBuilder, n int) {
		f.OpenList(n)
		for i := range n {
			f.Open()
			f.Field("Name")
			f.String(strings.Repeat("x", i%50))
			f.Field("Zero")
			f.Int(0)
			f.Close()
		}
		f.Close()
	}
	var want bytes.Buffer
	fmt.Fprintf(&want, "[%d:", 100)
	for i := range 100 {
		want.WriteByte('{')
		if i%50 > 0 {
			fmt.Fprintf(&want, "4:Names%d:%s", i%50, strings.Repeat("x", i%50))
		}
		want.WriteByte('}')
	}
	want.WriteByte(']')
	if got := encoded(t, func(f *FingerprintBuilder) { write(f, 100) }); got != want.String() {
		t.Errorf("got  %q\nwant %q", got, want.String())
	}
	var f FingerprintBuilder
	f.Arg(0)
	f.String(strings.Repeat("x", maxArgument+1))
	if _, err := f.sum(); !errors.Is(err, errTooLarge) {
		t.Errorf("%v, want errTooLarge", err)
	}
}

type alias = level

func localName() string {
	type local struct{ A string }
	return TypeName[local]()
}

func TestTypeNamesDiffer(t *testing.T) {
	type local struct{ A int }
	seen := map[string]int{}
	for i, name := range []string{
		TypeName[string](), TypeName[identifier](), TypeName[level](), TypeName[netip.Addr](), TypeName[local](),
		TypeName[*local](), TypeName[[]local](), TypeName[[2]local](), TypeName[[3]local](), TypeName[map[string]local](),
		TypeName[map[local]string](), TypeName[chan local](), TypeName[<-chan local](), TypeName[chan<- local](),
		TypeName[func(local)](), TypeName[func() local](), TypeName[func(...local)](), TypeName[func([]local)](),
		TypeName[struct{ A local }](), TypeName[struct{ local }](), TypeName[struct {
			A local `json:"a"`
		}](), TypeName[any](), TypeName[error](), TypeName[interface{ M() local }](), TypeName[interface{ M(local) }](),
		TypeName[Method[local]](), TypeName[Method[*local]](), localName(), TypeName[struct{ A int }](), TypeName[struct{ a int }](),
		TypeName[struct{ level }](), TypeName[struct{ level level }](), TypeName[struct{ alias }](), TypeName[interface{ m() }](),
		TypeName[interface{ error }](), TypeName[func(int) int](), TypeName[func(int, int)](),
	} {
		if before, twice := seen[name]; twice {
			t.Errorf("types %d and %d are both called %q", before, i, name)
		}
		seen[name] = i
	}
	const here = "github.com/idemgen/idem/runtime"
	if got, want := TypeName[struct{ a, B level }](), "struct{"+here+".a "+here+".level;B "+here+".level}"; got != want {
		t.Errorf("TypeName: %q, want %q", got, want)
	}
	if got := TypeName[map[string]*Record](); got != "map[string]*github.com/idemgen/idem/runtime.Record" {
		t.Errorf("TypeName: %q", got)
	}
}
