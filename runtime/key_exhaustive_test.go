package idem

import (
	"slices"
	"testing"
)

// nasty are strings that mean something in a key, or that are what two others
// with a separator between them would look like.
var nasty = []string{"", "a", "aa", "a,a", "a/a", "a=a", "a),(a", "%.", "%-", "%", "%2F", "(", "()", "@", "@a", "%sha256:", "\x00", "é"}

// The values that are easiest to take for one another are the small ones: here
// all of them meet.
func TestSmallPartsDiffer(t *testing.T) {
	short := nasty[:8]
	lists := upTo(2, short)
	var (
		pairs   []struct{ A, B string }
		options []struct{ A, B *string }
		entries []map[string]string
		named   []map[string][]string
		halves  []struct{ A, B []string }
	)
	values := []*string{nil}
	for _, s := range nasty {
		values = append(values, &s)
	}
	for _, a := range values {
		for _, b := range values {
			options = append(options, struct{ A, B *string }{a, b})
		}
	}
	for _, a := range nasty {
		for _, b := range nasty {
			pairs = append(pairs, struct{ A, B string }{a, b})
		}
	}
	entries = append(entries, map[string]string{})
	for i, p := range pairs {
		entries = append(entries, map[string]string{p.A: p.B})
		for _, q := range pairs[i+1:] {
			if p.A != q.A {
				entries = append(entries, map[string]string{p.A: p.B, q.A: q.B})
			}
		}
	}
	for _, a := range lists {
		for _, name := range short {
			named = append(named, map[string][]string{name: a})
		}
		for _, b := range lists {
			halves = append(halves, struct{ A, B []string }{a, b})
		}
	}

	text := func(k *KeyBuilder, s string) { k.String(s) }
	list := func(k *KeyBuilder, l []string) {
		k.Open()
		for _, s := range l {
			k.String(s)
		}
		k.Close()
	}
	optional := func(k *KeyBuilder, s *string) {
		if s == nil {
			k.Nil()
		} else {
			k.String(*s)
		}
	}
	distinct(t, nasty[1:], text)
	distinct(t, lists, list)
	distinct(t, upTo(2, lists), func(k *KeyBuilder, v [][]string) {
		k.Open()
		for _, l := range v {
			list(k, l)
		}
		k.Close()
	})
	distinct(t, options, func(k *KeyBuilder, v struct{ A, B *string }) {
		k.Open()
		optional(k, v.A)
		optional(k, v.B)
		k.Close()
	})
	distinct(t, pairs, func(k *KeyBuilder, v struct{ A, B string }) {
		k.Open()
		k.String(v.A)
		k.String(v.B)
		k.Close()
	})
	distinct(t, halves, func(k *KeyBuilder, v struct{ A, B []string }) {
		list(k, v.A)
		list(k, v.B)
	})
	distinct(t, entries, func(k *KeyBuilder, m map[string]string) {
		k.Open()
		for _, name := range SortedKeys(m) {
			k.String(name)
			k.MapValue()
			k.String(m[name])
		}
		k.Close()
	})
	distinct(t, named, func(k *KeyBuilder, m map[string][]string) {
		k.Open()
		for _, name := range SortedKeys(m) {
			k.String(name)
			k.MapValue()
			list(k, m[name])
		}
		k.Close()
	})
}

// upTo returns all lists of at most n of the values.
func upTo[T any](n int, values []T) [][]T {
	all := [][]T{{}}
	for last := all; n > 0; n-- {
		var longer [][]T
		for _, l := range last {
			for _, v := range values {
				longer = append(longer, append(slices.Clone(l), v))
			}
		}
		all, last = append(all, longer...), longer
	}
	return all
}

// distinct checks that no two of the values, all of which differ, share a key
// or, other than as nothing at all, a fingerprint.
func distinct[T any](t *testing.T, values []T, write func(*KeyBuilder, T)) {
	t.Helper()
	keys, sums := map[string]int{}, map[string]int{}
	meet := func(seen map[string]int, what, encoded string, i int) {
		t.Helper()
		if other, twice := seen[encoded]; twice {
			t.Fatalf("%#v and %#v share the %s %q", values[other], values[i], what, encoded)
		}
		seen[encoded] = i
	}
	for i, v := range values {
		var k KeyBuilder
		k.Int(1) // so that the key is never empty
		write(&k, v)
		key, err := k.Key("", "op")
		if err != nil {
			t.Fatalf("%#v: %v", v, err)
		}
		meet(keys, "key", key, i)
		var reflected KeyBuilder
		reflected.Int(1)
		reflected.Reflect(struct{ V T }{v})
		if key, err = reflected.Key("", "other"); err != nil {
			t.Fatalf("%#v: %v", v, err)
		}
		meet(keys, "key", key, i)
		meet(sums, "fingerprint", string(sumOf(t, v)), i)
	}
}

// Scope, operation and parts do not run into one another.
func TestSmallPrefixesDiffer(t *testing.T) {
	type call struct {
		scope, operation string
		parts            []string
	}
	seen := map[string]call{}
	for _, scope := range nasty {
		for _, operation := range nasty[1:] {
			for _, parts := range upTo(2, nasty[1:7])[1:] {
				var k KeyBuilder
				for _, part := range parts {
					k.String(part)
				}
				key, err := k.Key(scope, operation)
				if err != nil {
					t.Fatal(err)
				}
				c := call{scope, operation, parts}
				if other, twice := seen[key]; twice {
					t.Fatalf("%+v and %+v share %q", other, c, key)
				}
				seen[key] = c
			}
		}
	}
}
