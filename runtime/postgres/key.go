package postgres

import (
	"crypto/sha256"
	"encoding/hex"
)

const (
	// maxStoredKey keeps a key well within what an index of PostgreSQL and the
	// payload of a notification can hold.
	maxStoredKey = 1024
	// hashedMark separates the head of a longer key from its hash. No key is
	// stored with these characters otherwise, because \ is always followed by
	// x there.
	hashedMark = `\sha256:`
)

// storedKey returns the text that stands for key in the database: the key
// itself where it is printable ASCII, which a text of any encoding can hold.
// No two keys have the same one.
func storedKey(key string) string {
	if plain(key) && len(key) <= maxStoredKey {
		return key
	}
	const limit = maxStoredKey - len(hashedMark) - 2*sha256.Size
	const digits = "0123456789ABCDEF"
	var b []byte
	head := 0 // how much of b is kept if the whole is too long
	for i := range len(key) {
		if c := key[i]; printable(c) {
			b = append(b, c)
		} else {
			b = append(b, '\\', 'x', digits[c>>4], digits[c&15])
		}
		if len(b) <= limit {
			head = len(b)
		}
		if len(b) > maxStoredKey {
			sum := sha256.Sum256([]byte(key))
			return string(b[:head]) + hashedMark + hex.EncodeToString(sum[:])
		}
	}
	return string(b)
}

func plain(key string) bool {
	for i := range len(key) {
		if !printable(key[i]) {
			return false
		}
	}
	return true
}

func printable(c byte) bool { return ' ' <= c && c <= '~' && c != '\\' }
