package idem

// A KeyBuilder builds the key of a call from its parts. Generated code is its
// user: it declares a KeyBuilder, writes each part with the method for its
// type, and hands it to Method.Run. The zero value is ready for use, and as
// long as a key is not unusually long nothing but the finished string is
// allocated.
//
// A key is the operation's name and the parts, joined by "/":
//
//	payments.Charge/cus_9/order-123
//
// In the name and in the parts all bytes but ASCII letters, digits and
// -._~:@+$&!*; are written as % and two upper-case hexadecimal digits, so that a
// part's own "/" is %2F. Where the store has a scope the key begins with "@",
// the scope, escaped likewise, and "/"; a name's own leading "@" is %40. The
// encodings of the parts:
//
//   - strings, texts and byte slices are escaped bytes, integers are decimal,
//     booleans are true or false
//   - arrays of bytes are lower-case hexadecimal
//   - floats are the bits of IEEE 754 in lower-case hexadecimal, 8 or 16 digits;
//     complex numbers are two floats joined by ":"
//   - instants are RFC 3339 in UTC with as many decimals of a second as needed,
//     none to nine
//   - a nil pointer is %-, another one is what it leads to
//   - structs, arrays and slices are their elements in parentheses, joined by
//     ",", and maps likewise, as key=value in the order of SortedKeys; in them
//     an empty string, text or byte slice is %. and a nil slice or map is the
//     same as an empty one: ()
//   - every value that is written by Reflect, and every value inside of it,
//     other than strings and pointers, begins with % and a letter: b boolean,
//     i signed and u unsigned integer, f float, c complex number, t text,
//     T instant, l slice, a array, m map, v struct
//
// A key of more than 256 bytes keeps its first 184, less an escape that this
// would cut in two, and ends in %sha256: and the SHA-256 of the whole in
// lower-case hexadecimal.
//
// Within one operation, whose parts have fixed types, different parts never
// give one key. A part that is an empty string, text or byte slice, an array of
// zero bytes or the zero time is missing. So is the key if no part holds
// anything: if all are nil pointers, or composites without a value in them.
//
// These bytes are a stored format and do not change.
type KeyBuilder struct {
	buffer

	depth   int
	parts   int
	first   bool // the next element is the first of its composite
	kind    byte // letter that the next value begins with, of Reflect
	entry   bool // the next element is the value of a map's entry
	present bool // a part holds something
	missing int  // 1 + the index of the first empty part
	failed  int  // 1 + the index of the first part with an error
	err     error
}

// begin writes what stands before a value, and counts parts.
func (k *KeyBuilder) begin() {
	switch {
	case k.depth == 0:
		k.parts++
		k.byte('/')
	case k.entry:
		k.byte('=')
	case !k.first:
		k.byte(',')
	}
	k.first, k.entry = false, false
	if k.kind != 0 {
		k.byte('%')
		k.byte(k.kind)
		k.kind = 0
	}
}

// empty notes that the value at hand is empty: a missing part, or an element
// that has to be told from no element at all.
func (k *KeyBuilder) empty() {
	if k.depth > 0 {
		k.byte('%')
		k.byte('.')
		return
	}
	if k.missing == 0 {
		k.missing = k.parts
	}
}

func (k *KeyBuilder) holds() { k.present = true }

// fail remembers the first error, of the part that is written next.
func (k *KeyBuilder) fail(err error) {
	if k.err != nil {
		return
	}
	k.err, k.failed = err, k.parts
	if k.depth == 0 {
		k.failed++
	}
}

// Open begins a struct, an array, a slice or a map, which Close ends, and
// reports whether to go on. If it returns false the value is too deep or too
// large: nothing of it is to be written, nor Close to be called. That happens
// to values of recursive types only.
func (k *KeyBuilder) Open() bool {
	if k.depth >= maxDepth {
		k.fail(errDepth)
	}
	if k.len() > maxArgument {
		k.fail(errTooLarge)
	}
	if k.err != nil {
		return false
	}
	k.begin()
	k.byte('(')
	k.depth++
	k.first = true
	return true
}

// MapValue is called between the key and the value of a map's entry.
func (k *KeyBuilder) MapValue() { k.entry = true }

// Close ends what Open began.
func (k *KeyBuilder) Close() {
	k.depth--
	k.first = false
	k.byte(')')
}

// Key returns the finished key of a call of operation in scope, which is empty
// for a store without scopes: what Run would record. The error is ErrEmptyKey
// if a part is missing.
func (k *KeyBuilder) Key(scope, operation string) (string, error) {
	key, missing, err := k.finish(scope, escapeOperation(operation))
	if err == nil && missing >= 0 {
		err = ErrEmptyKey
	}
	if err != nil {
		return "", err
	}
	return key, nil
}

// finish returns the key, or the index of the first missing part. prefix is the
// escaped operation.
func (k *KeyBuilder) finish(scope, prefix string) (key string, missing int, err error) {
	switch {
	case k.err != nil:
		return "", -1, k.err
	case k.missing > 0:
		return "", k.missing - 1, nil
	case !k.present:
		return "", 0, nil
	}
	return k.key(scope, prefix), -1, nil
}

func (k *KeyBuilder) key(scope, prefix string) string {
	var room [maxKey]byte
	out := room[:0]
	if scope != "" {
		out = append(out, '@')
		out = appendEscaped(out, scope)
		out = append(out, '/')
	}
	out = append(out, prefix...)
	out = append(out, k.bytes()...)
	if len(out) > maxKey {
		return shorten(out)
	}
	return string(out)
}

// failedPart is the index of the part with the first error.
func (k *KeyBuilder) failedPart() int { return k.failed - 1 }
