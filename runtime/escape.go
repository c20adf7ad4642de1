package idem

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxKey is the length of the longest key, in bytes. Longer ones keep a
// readable head and end in a hash of the whole.
const maxKey = 256

// plain holds the bytes that stand for themselves in a key: the unreserved
// characters of RFC 3986, section 2.3, and those of its reserved ones that
// mean nothing here.
var plain = func() (t [256]bool) {
	for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:@+$&!*;" {
		t[c] = true
	}
	return t
}()

const upperHex = "0123456789ABCDEF"

// escaped returns how many bytes s takes when it is escaped.
func escaped[S string | []byte](s S) int {
	n := len(s)
	for i := range len(s) {
		if !plain[s[i]] {
			n += 2
		}
	}
	return n
}

// appendEscaped appends s with every byte that is not plain as %XX.
func appendEscaped[S string | []byte](dst []byte, s S) []byte {
	for i := range len(s) {
		if c := s[i]; plain[c] {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return dst
}

// escapeOperation makes an operation's name the first segment of a key. One
// that begins with @ would look like a scope.
func escapeOperation(name string) string {
	out := name
	if escaped(name) > len(name) {
		out = string(appendEscaped(nil, name))
	}
	if strings.HasPrefix(out, "@") {
		out = "%40" + out[1:]
	}
	return out
}

// shorten gives a key that is too long a readable head and the SHA-256 of the
// whole. No other key looks so, because %s is no escape.
func shorten(key []byte) string {
	const marker = "%sha256:"
	sum := sha256.Sum256(key)
	head := key[:maxKey-len(marker)-2*sha256.Size]
	// An escape is not cut in two.
	for i := 1; i <= 2; i++ {
		if head[len(head)-i] == '%' {
			head = head[:len(head)-i]
			break
		}
	}
	out := make([]byte, 0, maxKey)
	out = append(out, head...)
	out = append(out, marker...)
	return string(hex.AppendEncode(out, sum[:]))
}

// singleKey is the key of a call of Do: the given key is its only part.
func singleKey(scope, prefix, key string) string {
	var b KeyBuilder
	b.String(key)
	return b.key(scope, prefix)
}

// childKey is a key below another.
func childKey(key, name string) string {
	out := append([]byte(key), '/')
	out = appendEscaped(out, name)
	if len(out) > maxKey {
		return shorten(out)
	}
	return string(out)
}
