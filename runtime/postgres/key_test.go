package postgres

import (
	"strings"
	"testing"
)

func TestStoredKey(t *testing.T) {
	long := strings.Repeat("a", maxStoredKey)
	for key, want := range map[string]string{
		"":                         "",
		"payments.Charge/c%2F9/42": "payments.Charge/c%2F9/42",
		`a\b`:                      `a\x5Cb`,
		"a\x00\xff\n":              `a\x00\xFF\x0A`,
		"é":                        `\xC3\xA9`,
		long:                       long,
	} {
		if got := storedKey(key); got != want {
			t.Errorf("storedKey(%q) = %q, want %q", key, got, want)
		}
	}
}

// Long keys that differ anywhere are stored apart, and never cut within an
// escape.
func TestStoredKeyOfLongKeys(t *testing.T) {
	seen := map[string]string{}
	for _, key := range []string{
		strings.Repeat("a", maxStoredKey+1),
		strings.Repeat("a", maxStoredKey) + "b",
		strings.Repeat("\x00", maxStoredKey),
		"a" + strings.Repeat("\x00", maxStoredKey),
		"aa" + strings.Repeat("\x00", maxStoredKey),
		"aaa" + strings.Repeat("\x00", maxStoredKey),
	} {
		stored := storedKey(key)
		if other, dup := seen[stored]; dup {
			t.Errorf("%.10q and %.10q are stored alike", key, other)
		}
		seen[stored] = key
		head, _, hashed := strings.Cut(stored, hashedMark)
		if !hashed || len(stored) > maxStoredKey {
			t.Errorf("%.10q is stored as %q, of %d bytes", key, stored, len(stored))
		}
		if strings.Trim(strings.ReplaceAll(head, `\x00`, ""), "a") != "" {
			t.Errorf("the head of %.10q ends in the middle of an escape: %q", key, head[len(head)-5:])
		}
	}
}

func FuzzStoredKeyIsInjective(f *testing.F) {
	f.Add("a", `\x61`)
	f.Add("\x00", `\x00`)
	f.Add(strings.Repeat("x", maxStoredKey+1), strings.Repeat("x", maxStoredKey+2))
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := storedKey(a), storedKey(b)
		if a != b && x == y {
			t.Errorf("%q and %q are both stored as %q", a, b, x)
		}
		for i := range len(x) {
			if x[i] < ' ' || x[i] > '~' {
				t.Errorf("%q is stored as %q", a, x)
			}
		}
	})
}
