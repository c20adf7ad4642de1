package idem

import (
	"bytes"
	"crypto/sha256"
	"errors"
)

// A FingerprintBuilder digests the arguments of a call, so that one key is not
// used for two different requests. Generated code is its user: for each
// argument it calls Arg, then the method for the argument's type. The zero
// value is ready for use.
//
// Each argument has a canonical encoding. Numbers in capitals are decimal
// without leading zeros, and there are no spaces:
//
//	t f                     booleans
//	i NUMBER ;              integers, whatever their width
//	d BITS                  floats as float64, 8 bytes, the highest first
//	c BITS BITS             complex numbers likewise
//	s LENGTH : BYTES        strings and texts
//	b LENGTH : BYTES        byte slices and arrays of bytes
//	T SECONDS : NANOS ;     instants, since 1970 in UTC
//	n                       a nil pointer
//	p VALUE                 what a pointer leads to
//	z                       a text type's value that equals the type's zero
//	{ LENGTH : NAME VALUE … } structs, in the order of the fields' names
//	{ i INDEX ; VALUE … }   arrays
//	[ COUNT : VALUE … ]     slices
//	< COUNT : KEY VALUE … > maps, in the order of SortedKeys
//
// A field, or an element of an array, whose value is zero is left out, and so is
// an argument that is zero: adding a field, or changing the order of fields,
// changes no fingerprint. Zero is a value that equals its type's zero, floats by
// their bits; an empty slice or map; an empty text; and a struct or an array of
// which all is left out. Elements of slices and maps, and what pointers lead to,
// are never left out. An argument whose encoding nests more than 10,000 deep or
// takes more than 64 MiB is an error of the call.
//
// A fingerprint is a version byte, 1, and for each argument that is not zero
// its index in one byte and the first 16 bytes of the SHA-256 of its encoding.
// These bytes are a stored format and do not change.
type FingerprintBuilder struct {
	buffer // the argument that is being written

	sums  [maxSmallSums * sumSize]byte
	nSums int
	more  []byte // sums beyond the first few

	arg    int // 1 + the index of the argument being written
	mark   int // where to cut if the next value is zero, -1: it must stay
	deep   []frame
	frames [8]frame
	depth  int
	failed int // 1 + the index of the argument with the first error
	err    error
}

// frame is a composite that is being written.
type frame struct {
	mark  int // where to cut if it is zero
	body  int // where its members begin
	close byte
}

const (
	fingerprintVersion = 1
	digestSize         = 16
	sumSize            = 1 + digestSize
	maxSmallSums       = 6

	maxDepth    = 10_000
	maxArgument = 64 << 20
)

var (
	errDepth    = errors.New("the value is nested too deeply, or runs in a circle")
	errTooLarge = errors.New("the value takes more than 64 MiB when it is encoded, or runs in a circle")
)

// Arg begins the argument with the given index.
func (f *FingerprintBuilder) Arg(i int) {
	f.endArg()
	f.arg, f.mark, f.depth = i+1, 0, 0
}

// endArg adds the digest of the argument that was written.
func (f *FingerprintBuilder) endArg() {
	if f.arg == 0 {
		return
	}
	if encoded := f.bytes(); len(encoded) > 0 {
		digest := sha256.Sum256(encoded)
		var sum [sumSize]byte
		sum[0] = byte(f.arg - 1)
		copy(sum[1:], digest[:digestSize])
		if f.nSums < maxSmallSums {
			copy(f.sums[f.nSums*sumSize:], sum[:])
			f.nSums++
		} else {
			f.more = append(f.more, sum[:]...)
		}
	}
	f.cut(0)
	f.arg = 0
}

// zero leaves the value at hand out, if it may be left out, and reports whether
// it did.
func (f *FingerprintBuilder) zero(isZero bool) bool {
	mark := f.mark
	f.mark = -1
	if !isZero || mark < 0 {
		return false
	}
	f.cut(mark)
	return true
}

// Pointer is called before the value that a pointer leads to, which is then
// never left out.
func (f *FingerprintBuilder) Pointer() {
	f.zero(false)
	f.byte('p')
}

// Open begins a struct or an array, whose members follow, each after Field or
// Index, and reports whether to go on. If it returns false the value is too
// deep or too large: nothing of it is to be written, nor Close to be called.
func (f *FingerprintBuilder) Open() bool { return f.open('{', '}', -1) }

// OpenList begins a slice of n elements. Its result is as Open's.
func (f *FingerprintBuilder) OpenList(n int) bool { return f.open('[', ']', n) }

// OpenMap begins a map of n entries, each written as key, MapValue, value in
// the order of the keys. Its result is as Open's.
func (f *FingerprintBuilder) OpenMap(n int) bool { return f.open('<', '>', n) }

func (f *FingerprintBuilder) open(open, close byte, n int) bool {
	if f.depth >= maxDepth {
		f.fail(errDepth)
	}
	if f.err != nil || !f.fits(0) {
		return false
	}
	fr := frame{mark: f.mark, close: close}
	f.zero(false)
	f.byte(open)
	if n >= 0 {
		f.commit(appendCount(f.space(21), n))
	}
	fr.body = f.len()
	if f.depth < len(f.frames) {
		f.frames[f.depth] = fr
	} else {
		f.deep = append(f.deep[:f.depth-len(f.frames)], fr)
	}
	f.depth++
	return true
}

// Field begins the field of a struct. The fields are written in the order of
// their names.
func (f *FingerprintBuilder) Field(name string) {
	mark := f.len()
	f.commit(append(appendCount(f.space(len(name)+21), len(name)), name...))
	f.mark = mark
}

// Index begins the element i of an array.
func (f *FingerprintBuilder) Index(i int) {
	mark := f.len()
	f.integer(int64(i))
	f.mark = mark
}

// MapValue is called between the key and the value of a map's entry.
func (f *FingerprintBuilder) MapValue() {}

// Close ends what an Open function began.
func (f *FingerprintBuilder) Close() {
	f.depth--
	var fr frame
	if f.depth < len(f.frames) {
		fr = f.frames[f.depth]
	} else {
		fr = f.deep[f.depth-len(f.frames)]
	}
	f.mark = fr.mark
	if !f.zero(f.len() == fr.body) {
		f.byte(fr.close)
	}
}

// fits notes an argument that becomes too large.
func (f *FingerprintBuilder) fits(n int) bool {
	if f.len()+n > maxArgument {
		f.fail(errTooLarge)
		return false
	}
	return true
}

func (f *FingerprintBuilder) fail(err error) {
	if f.err == nil {
		f.err, f.failed = err, f.arg
	}
}

// failedArgument is the index of the argument with the first error.
func (f *FingerprintBuilder) failedArgument() int { return f.failed - 1 }

// sum returns the fingerprint. That of a nil builder is empty, which agrees
// with every other.
func (f *FingerprintBuilder) sum() ([]byte, error) {
	if f == nil {
		return nil, nil
	}
	f.endArg()
	if f.err != nil {
		return nil, f.err
	}
	out := make([]byte, 0, 1+f.nSums*sumSize+len(f.more))
	out = append(out, fingerprintVersion)
	out = append(out, f.sums[:f.nSums*sumSize]...)
	return append(out, f.more...), nil
}

// differing returns the index of the first argument in which two fingerprints
// differ. ok is false if that cannot be told.
func differing(a, b []byte) (argument int, ok bool) {
	if !isFingerprint(a) || !isFingerprint(b) {
		return 0, false
	}
	a, b = a[1:], b[1:]
	for len(a) > 0 && len(b) > 0 {
		if !bytes.Equal(a[:sumSize], b[:sumSize]) {
			return int(min(a[0], b[0])), true
		}
		a, b = a[sumSize:], b[sumSize:]
	}
	switch {
	case len(a) > 0:
		return int(a[0]), true
	case len(b) > 0:
		return int(b[0]), true
	default:
		return 0, false
	}
}

func isFingerprint(f []byte) bool {
	return len(f) > 0 && f[0] == fingerprintVersion && (len(f)-1)%sumSize == 0
}
