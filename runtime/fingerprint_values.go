package idem

import (
	"math"
	"strconv"
	"time"
)

// Zero writes a value that equals its type's zero and has no other form.
func (f *FingerprintBuilder) Zero() {
	if !f.zero(true) {
		f.byte('z')
	}
}

// Nil writes a nil pointer.
func (f *FingerprintBuilder) Nil() {
	if !f.zero(true) {
		f.byte('n')
	}
}

// Bool writes a boolean.
func (f *FingerprintBuilder) Bool(v bool) {
	if f.zero(!v) {
		return
	}
	if v {
		f.byte('t')
	} else {
		f.byte('f')
	}
}

// Int writes a signed integer of any width.
func (f *FingerprintBuilder) Int(v int64) {
	if !f.zero(v == 0) {
		f.integer(v)
	}
}

func (f *FingerprintBuilder) integer(v int64) {
	f.commit(append(strconv.AppendInt(append(f.space(22), 'i'), v, 10), ';'))
}

// Uint writes an unsigned integer of any width.
func (f *FingerprintBuilder) Uint(v uint64) {
	if !f.zero(v == 0) {
		f.commit(append(strconv.AppendUint(append(f.space(22), 'i'), v, 10), ';'))
	}
}

// Float32 writes a float as the float64 that equals it.
func (f *FingerprintBuilder) Float32(v float32) { f.Float64(widen(v)) }

// Float64 writes a float. Only positive zero is left out.
func (f *FingerprintBuilder) Float64(v float64) {
	bits := math.Float64bits(v)
	if !f.zero(bits == 0) {
		f.commit(appendUint64(append(f.space(9), 'd'), bits))
	}
}

// widen converts v as every processor does, but for NaNs: it keeps all of
// their bits, of which processors lose some or all.
func widen(v float32) float64 {
	if wide := float64(v); !math.IsNaN(wide) {
		return wide
	}
	const exponent = 0x7ff << 52
	bits := uint64(math.Float32bits(v))
	return math.Float64frombits(bits>>31<<63 | exponent | bits&(1<<23-1)<<29)
}

// Complex64 writes a complex number as the complex128 that equals it.
func (f *FingerprintBuilder) Complex64(v complex64) {
	f.Complex128(complex(widen(real(v)), widen(imag(v))))
}

// Complex128 writes a complex number. Only positive zeros are left out.
func (f *FingerprintBuilder) Complex128(v complex128) {
	re, im := math.Float64bits(real(v)), math.Float64bits(imag(v))
	if !f.zero(re == 0 && im == 0) {
		f.commit(appendUint64(appendUint64(append(f.space(17), 'c'), re), im))
	}
}

func appendUint64(dst []byte, v uint64) []byte {
	return append(dst, byte(v>>56), byte(v>>48), byte(v>>40), byte(v>>32), byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
}

// String writes a string.
func (f *FingerprintBuilder) String(s string) {
	if !f.zero(s == "") && f.fits(len(s)) {
		b := appendCount(append(f.space(len(s)+21), 's'), len(s))
		f.commit(append(b, s...))
	}
}

// appendCount appends n, which most often has one digit, and a colon.
func appendCount(dst []byte, n int) []byte {
	if n < 10 {
		return append(dst, '0'+byte(n), ':')
	}
	return append(strconv.AppendInt(dst, int64(n), 10), ':')
}

// Bytes writes a byte slice. A nil one is the same as an empty one.
func (f *FingerprintBuilder) Bytes(b []byte) {
	if !f.zero(len(b) == 0) {
		f.blob('b', b)
	}
}

// ID writes an array of bytes.
func (f *FingerprintBuilder) ID(b []byte) {
	isZero := true
	for _, c := range b {
		isZero = isZero && c == 0
	}
	if !f.zero(isZero) {
		f.blob('b', b)
	}
}

// Text writes the result of MarshalText or AppendText.
func (f *FingerprintBuilder) Text(b []byte, err error) {
	if err != nil {
		f.fail(err)
	}
	if !f.zero(len(b) == 0) {
		f.blob('s', b)
	}
}

func (f *FingerprintBuilder) blob(tag byte, b []byte) {
	if f.fits(len(b)) {
		head := appendCount(append(f.space(len(b)+21), tag), len(b))
		f.commit(append(head, b...))
	}
}

// Buffer returns an empty slice for AppendText to write to.
func (f *FingerprintBuilder) Buffer() []byte { return make([]byte, 0, 64) }

// Time writes an instant: its zone and its monotonic reading do not count.
func (f *FingerprintBuilder) Time(t time.Time) {
	if f.zero(t.IsZero()) {
		return
	}
	b := strconv.AppendInt(append(f.space(32), 'T'), t.Unix(), 10)
	b = strconv.AppendInt(append(b, ':'), int64(t.Nanosecond()), 10)
	f.commit(append(b, ';'))
}
