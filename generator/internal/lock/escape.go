package lock

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxKey is the length of the longest key, in bytes.
const maxKey = 256

// plain are the bytes that stand for themselves in a key, beside letters and
// digits.
const plain = "-._~:@+$&!*;"

func appendEscaped(dst []byte, s string) []byte {
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte(plain, c) >= 0:
			dst = append(dst, c)
		default:
			dst = append(dst, '%')
			dst = append(dst, strings.ToUpper(hex.EncodeToString([]byte{c}))...)
		}
	}
	return dst
}

// shorten gives a key that is too long a head and a hash of the whole.
func shorten(key string) string {
	if len(key) <= maxKey {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	tail := "%sha256:" + hex.EncodeToString(sum[:])
	head := key[:maxKey-len(tail)]
	// An escape is not cut in two.
	if i := strings.LastIndexByte(head, '%'); i >= len(head)-2 {
		head = head[:i]
	}
	return head + tail
}
