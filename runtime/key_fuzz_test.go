package idem

import (
	"encoding/binary"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// source turns fuzz input into values.
type source struct{ data []byte }

func (s *source) byte() byte {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return b
}

func (s *source) string() string {
	n := min(int(s.byte())%40, len(s.data))
	out := string(s.data[:n])
	s.data = s.data[n:]
	return out
}

func (s *source) int() int64 {
	var b [8]byte
	s.data = s.data[copy(b[:], s.data):]
	return int64(binary.BigEndian.Uint64(b[:]))
}

// parts are the key parts of one method, of types that are fixed, in a form in
// which reflect.DeepEqual is the equality that keys are to have.
type parts struct {
	Name   string
	Number int64
	Flag   bool
	List   []string
	Opt    *string
	Map    map[string]int64
	Pair   struct{ A, B string }
	At     time.Time
	Lists  [][]string
}

func (s *source) list() []string {
	out := []string{} // nil and empty are one key
	for range int(s.byte()) % 4 {
		out = append(out, s.string())
	}
	return out
}

func (s *source) parts() (p parts) {
	p.Name = "n" + s.string()
	p.Number = s.int()
	p.Flag = s.byte()%2 == 1
	p.List = s.list()
	if s.byte()%2 == 1 {
		text := "o" + s.string()
		p.Opt = &text
	}
	p.Map = map[string]int64{}
	for range int(s.byte()) % 3 {
		p.Map[s.string()] = s.int()
	}
	p.Pair.A, p.Pair.B = s.string(), s.string()
	p.At = time.Unix(s.int()%(1<<40), int64(s.byte())).UTC()
	p.Lists = [][]string{}
	for range int(s.byte()) % 3 {
		p.Lists = append(p.Lists, s.list())
	}
	return p
}

func (p parts) build(k *KeyBuilder) {
	k.String(p.Name)
	k.Int(p.Number)
	k.Bool(p.Flag)
	list := func(l []string) {
		k.Open()
		for _, s := range l {
			k.String(s)
		}
		k.Close()
	}
	list(p.List)
	if p.Opt == nil {
		k.Nil()
	} else {
		k.String(*p.Opt)
	}
	k.Open()
	for _, name := range SortedKeys(p.Map) {
		k.String(name)
		k.MapValue()
		k.Int(p.Map[name])
	}
	k.Close()
	k.Open()
	k.String(p.Pair.A)
	k.String(p.Pair.B)
	k.Close()
	k.Time(p.At)
	k.Open()
	for _, l := range p.Lists {
		list(l)
	}
	k.Close()
}

func (p parts) key(t *testing.T) string {
	t.Helper()
	var k KeyBuilder
	p.build(&k)
	key, err := k.Key("tenant", "op")
	if p.At.IsZero() {
		if err != ErrEmptyKey {
			t.Errorf("a zero time: %v", err)
		}
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(key) > maxKey {
		t.Errorf("%d bytes: %s", len(key), key)
	}
	for i := range len(key) {
		if c := key[i]; !plain[c] && !strings.ContainsRune("/%(),=", rune(c)) {
			t.Errorf("%q holds the byte %q", key, c)
		}
	}
	return key
}

func FuzzKeysAreInjective(f *testing.F) {
	f.Add([]byte("a"), []byte("b"))
	f.Add([]byte("\x03a/b"), []byte("\x01a\x01b"))
	f.Add([]byte("\x02%2F\x00\x00"), []byte("\x01/\x00\x00\x00"))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00"), []byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		first, second := (&source{a}).parts(), (&source{b}).parts()
		if (first.key(t) == second.key(t)) != reflect.DeepEqual(first, second) {
			t.Errorf("%+v gives %q\n%+v gives %q", first, first.key(t), second, second.key(t))
		}
		// A list that is one element shorter, or whose element holds the
		// separator, is the nearest miss.
		near := first
		near.List = append(append([]string{}, first.List...), "")
		if near.key(t) == first.key(t) && !near.At.IsZero() {
			t.Errorf("one empty element more changes nothing in %q", near.key(t))
		}
	})
}

// write is what generated code looks like for a fingerprint of parts.
func (p parts) write(f *FingerprintBuilder) {
	list := func(l []string) {
		if f.OpenList(len(l)) {
			for _, s := range l {
				f.String(s)
			}
			f.Close()
		}
	}
	f.Open()
	f.Field("At")
	f.Time(p.At)
	f.Field("Flag")
	f.Bool(p.Flag)
	f.Field("List")
	list(p.List)
	f.Field("Lists")
	f.OpenList(len(p.Lists))
	for _, l := range p.Lists {
		list(l)
	}
	f.Close()
	f.Field("Map")
	f.OpenMap(len(p.Map))
	for _, k := range SortedKeys(p.Map) {
		f.String(k)
		f.MapValue()
		f.Int(p.Map[k])
	}
	f.Close()
	f.Field("Name")
	f.String(p.Name)
	f.Field("Number")
	f.Int(p.Number)
	f.Field("Opt")
	if p.Opt == nil {
		f.Nil()
	} else {
		f.Pointer()
		f.String(*p.Opt)
	}
	f.Field("Pair")
	f.Open()
	f.Field("A")
	f.String(p.Pair.A)
	f.Field("B")
	f.String(p.Pair.B)
	f.Close()
	f.Close()
}

func FuzzFingerprintsAgreeWithEquality(f *testing.F) {
	f.Add([]byte("a"), []byte("b"))
	f.Add([]byte(""), []byte("\x00"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		first, second := (&source{a}).parts(), (&source{b}).parts()
		same := string(sumOf(t, first)) == string(sumOf(t, second))
		if same != reflect.DeepEqual(first, second) {
			t.Errorf("%+v\n%+v\nare the same: %v", first, second, same)
		}
		typed, reflective := encoded(t, first.write), encoded(t, func(f *FingerprintBuilder) { f.Reflect(first) })
		if typed != reflective {
			t.Errorf("%+v\ntyped   %q\nreflect %q", first, typed, reflective)
		}
	})
}

// Keys of values of type parameters are injective over all types at once.
func FuzzReflectedKeysAreInjective(f *testing.F) {
	f.Add([]byte("\x05a"), []byte("\x06a"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		first, second := (&source{a}).value(3), (&source{b}).value(3)
		if (keyOf(t, first) == keyOf(t, second)) != reflect.DeepEqual(first, second) {
			t.Errorf("%#v gives %q\n%#v gives %q", first, keyOf(t, first), second, keyOf(t, second))
		}
	})
}

// value returns a value of one of many types, none of which is made of another.
func (s *source) value(depth int) any {
	kinds := 7
	if depth > 0 {
		kinds = 11
	}
	switch int(s.byte()) % kinds {
	case 0:
		return s.int()
	case 1:
		return uint64(s.int())
	case 2:
		return s.byte()%2 == 0
	case 3:
		return math.Float64frombits(uint64(s.int())&^(1<<62) | 1) // neither NaN nor zero, which have an equality of their own
	case 4:
		return "x" + s.string()
	case 5:
		return []byte("x" + s.string())
	case 6:
		return time.Unix(s.int()%(1<<40), 1).UTC()
	case 7:
		return slice(s.value(depth - 1))
	case 8:
		v := reflect.ValueOf(s.value(depth - 1))
		array := reflect.New(reflect.ArrayOf(1, v.Type())).Elem()
		array.Index(0).Set(v)
		return array.Interface()
	case 9:
		k, v := s.string(), reflect.ValueOf(s.value(depth-1))
		m := reflect.MakeMap(reflect.MapOf(reflect.TypeFor[string](), v.Type()))
		m.SetMapIndex(reflect.ValueOf(k), v)
		return m.Interface()
	default:
		a, b := reflect.ValueOf(s.value(depth-1)), reflect.ValueOf(s.value(depth-1))
		v := reflect.New(reflect.StructOf([]reflect.StructField{{Name: "A", Type: a.Type()}, {Name: "B", Type: b.Type()}})).Elem()
		v.Field(0).Set(a)
		v.Field(1).Set(b)
		return v.Interface()
	}
}

// slice returns a slice that holds v, which is not a slice of bytes.
func slice(v any) any {
	element := reflect.ValueOf(v)
	list := reflect.MakeSlice(reflect.SliceOf(element.Type()), 0, 1)
	return reflect.Append(list, element).Interface()
}
