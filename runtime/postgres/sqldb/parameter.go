package sqldb

import (
	"encoding/hex"
	"strconv"
)

// parameter returns arg as a value that every driver takes: arrays, which
// database/sql has no notion of, as PostgreSQL writes them.
func parameter(arg any) any {
	switch a := arg.(type) {
	case []string:
		return array(a, func(b []byte, s string) []byte {
			b = append(b, '"')
			for i := range len(s) {
				if s[i] == '"' || s[i] == '\\' {
					b = append(b, '\\')
				}
				b = append(b, s[i])
			}
			return append(b, '"')
		})
	case [][]byte:
		return array(a, func(b, element []byte) []byte {
			if element == nil {
				return append(b, "NULL"...)
			}
			b = append(b, `"\\x`...)
			b = hex.AppendEncode(b, element)
			return append(b, '"')
		})
	case []int64:
		return array(a, func(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) })
	case []int32:
		return array(a, func(b []byte, n int32) []byte { return strconv.AppendInt(b, int64(n), 10) })
	case int32:
		return int64(a)
	default:
		return arg
	}
}

func array[E any](elements []E, appendElement func([]byte, E) []byte) string {
	b := []byte{'{'}
	for i, e := range elements {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendElement(b, e)
	}
	return string(append(b, '}'))
}
