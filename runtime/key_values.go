package idem

import (
	"encoding/hex"
	"math"
	"strconv"
	"time"
)

// String writes a string. As a part of its own an empty one is missing.
func (k *KeyBuilder) String(s string) {
	k.begin()
	if s == "" {
		k.empty()
		return
	}
	k.holds()
	k.commit(appendEscaped(k.space(escaped(s)), s))
}

// Bytes writes a byte slice. As a part of its own an empty one is missing.
func (k *KeyBuilder) Bytes(b []byte) {
	k.begin()
	if len(b) == 0 {
		k.empty()
		return
	}
	k.holds()
	k.commit(appendEscaped(k.space(escaped(b)), b))
}

// Text writes the result of MarshalText or AppendText. As a part of its own an
// empty text is missing; an error is the call's.
func (k *KeyBuilder) Text(b []byte, err error) {
	if err != nil {
		k.fail(err)
	}
	k.Bytes(b)
}

// Buffer returns an empty slice for AppendText to write to.
func (k *KeyBuilder) Buffer() []byte { return make([]byte, 0, 64) }

// Bool writes a boolean.
func (k *KeyBuilder) Bool(v bool) {
	k.begin()
	k.holds()
	k.commit(strconv.AppendBool(k.space(5), v))
}

// Int writes a signed integer of any width.
func (k *KeyBuilder) Int(v int64) {
	k.begin()
	k.holds()
	k.commit(strconv.AppendInt(k.space(20), v, 10))
}

// Uint writes an unsigned integer of any width.
func (k *KeyBuilder) Uint(v uint64) {
	k.begin()
	k.holds()
	k.commit(strconv.AppendUint(k.space(20), v, 10))
}

// Float32 writes a float by its bits.
func (k *KeyBuilder) Float32(v float32) {
	k.begin()
	k.holds()
	k.commit(appendBits(k.space(8), uint64(math.Float32bits(v)), 8))
}

// Float64 writes a float by its bits.
func (k *KeyBuilder) Float64(v float64) {
	k.begin()
	k.holds()
	k.commit(appendBits(k.space(16), math.Float64bits(v), 16))
}

// Complex64 writes a complex number by its bits.
func (k *KeyBuilder) Complex64(v complex64) {
	k.begin()
	k.holds()
	b := appendBits(k.space(17), uint64(math.Float32bits(real(v))), 8)
	k.commit(appendBits(append(b, ':'), uint64(math.Float32bits(imag(v))), 8))
}

// Complex128 writes a complex number by its bits.
func (k *KeyBuilder) Complex128(v complex128) {
	k.begin()
	k.holds()
	b := appendBits(k.space(33), math.Float64bits(real(v)), 16)
	k.commit(appendBits(append(b, ':'), math.Float64bits(imag(v)), 16))
}

func appendBits(dst []byte, bits uint64, digits int) []byte {
	for i := digits - 1; i >= 0; i-- {
		dst = append(dst, "0123456789abcdef"[bits>>(4*i)&15])
	}
	return dst
}

// Time writes an instant: its zone and its monotonic reading do not count. As
// a part of its own the zero time is missing.
func (k *KeyBuilder) Time(t time.Time) {
	k.begin()
	if t.IsZero() && k.depth == 0 {
		k.empty()
		return
	}
	k.holds()
	// Years beyond four digits make this longer, and stay distinct.
	k.commit(t.UTC().AppendFormat(k.space(len(time.RFC3339Nano)+16), time.RFC3339Nano))
}

// ID writes an array of bytes. As a part of its own one of zeros is missing.
func (k *KeyBuilder) ID(b []byte) {
	k.begin()
	zero := true
	for _, c := range b {
		zero = zero && c == 0
	}
	if zero && k.depth == 0 {
		k.empty()
		return
	}
	k.holds()
	k.commit(hex.AppendEncode(k.space(2*len(b)), b))
}

// Nil writes a nil pointer.
func (k *KeyBuilder) Nil() {
	k.begin()
	k.commit(append(k.space(2), '%', '-'))
}
