package idem

import (
	"encoding/binary"
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

func FuzzFingerprintsAgreeWithEquality(f *testing.F) {
	f.Add([]byte("a"), []byte("b"))
	f.Add([]byte(""), []byte("\x00"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		first, second := (&source{a}).parts(), (&source{b}).parts()
		same := string(sumOf(t, first)) == string(sumOf(t, second))
		if same != reflect.DeepEqual(first, second) {
			t.Errorf("%+v\n%+v\nare the same: %v", first, second, same)
		}
	})
}
