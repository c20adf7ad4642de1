package idem

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// A recorded outcome is an envelope that backends do not look into: one line
// of ASCII, then the payload.
//
//	1v json\n{"ID":"r-1"}
//
// The line holds the format's version, the kind of the outcome, a space and
// the name of the codec. The bytes are a stored format: golden tests pin them.
const (
	envelopeVersion     = '1'
	envelopeValue       = 'v' // the payload is the encoded result
	envelopeFinal       = 'e' // a line with the final error, then the encoded result beside it
	envelopeUnavailable = 'u' // executed, but the outcome was not kept; the payload says why
)

// encodeOutcome puts the result that v points to, and the final error beside it if there is one,
// into an envelope. If that cannot be done, or the envelope would exceed limit
// bytes, the envelope is one without the outcome, and err says why.
func encodeOutcome(c Codec, v any, final *recordedError, limit int) (envelope []byte, err error) {
	kind := byte(envelopeValue)
	var line []byte
	if final != nil {
		kind = envelopeFinal
		if line, err = json.Marshal(final); err != nil {
			return unavailable(c, err), err
		}
		line = append(line, '\n')
	}
	payload, err := marshal(c, v)
	if err != nil {
		return unavailable(c, err), err
	}
	name := c.Name()
	size := len("1v \n") + len(name) + len(line) + len(payload)
	if size > limit {
		err = fmt.Errorf("%d bytes exceed the limit of %d", size, limit)
		return unavailable(c, err), err
	}
	envelope = make([]byte, 0, size)
	envelope = append(envelope, envelopeVersion, kind, ' ')
	envelope = append(envelope, name...)
	envelope = append(envelope, '\n')
	envelope = append(envelope, line...)
	return append(envelope, payload...), nil
}

func unavailable(c Codec, why error) []byte {
	return fmt.Appendf(nil, "%c%c %s\n%v", envelopeVersion, envelopeUnavailable, c.Name(), why)
}

// marshal encodes what v points to. A marshaler that panics has failed to encode.
func marshal(c Codec, v any) (payload []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a marshaler panicked: %v", p)
		}
	}()
	return c.Marshal(v)
}

// openEnvelope takes an envelope apart.
func openEnvelope(envelope []byte) (kind byte, codec string, payload []byte, err error) {
	line, payload, ok := bytes.Cut(envelope, []byte("\n"))
	if !ok || len(line) < 3 || line[2] != ' ' {
		return 0, "", nil, errors.New("the record does not begin with an envelope")
	}
	if line[0] != envelopeVersion {
		return 0, "", nil, fmt.Errorf("the envelope has version %q, and this runtime knows %q", line[0], envelopeVersion)
	}
	return line[1], string(line[3:]), payload, nil
}

// decodeOutcome brings a recorded outcome back: a result and, if the outcome
// was one, the final error. err is about the record: ErrResultUnavailable or a
// *DecodeError.
func decodeOutcome[T any](o *operation, key string, envelope []byte) (v T, final, err error) {
	kind, codec, payload, err := openEnvelope(envelope)
	fail := func(err error) (T, error, error) {
		var zero T
		return zero, nil, &DecodeError{Operation: o.name, Key: key, Codec: codec, Err: err}
	}
	switch {
	case err != nil:
		return fail(err)
	case kind == envelopeUnavailable:
		return v, nil, &CallError{Operation: o.name, Key: key, Err: fmt.Errorf("%w: %s", ErrResultUnavailable, payload)}
	case kind != envelopeValue && kind != envelopeFinal:
		return fail(fmt.Errorf("unknown kind of outcome %q", kind))
	case codec != o.codec.Name():
		return fail(fmt.Errorf("recorded by the codec %q, and the method now uses %q", codec, o.codec.Name()))
	}
	if kind == envelopeFinal {
		var line []byte
		line, payload, _ = bytes.Cut(payload, []byte("\n"))
		if final, err = o.restore(line); err != nil {
			return fail(err)
		}
	}
	if err := o.codec.Unmarshal(payload, &v); err != nil {
		return fail(err)
	}
	return v, final, nil
}

// copierOf returns how values of type T are copied without a codec, or nil if
// only decoding makes a copy that shares nothing.
func copierOf[T any]() func(T) T {
	t := reflect.TypeFor[T]()
	switch kind := t.Kind(); {
	case kind >= reflect.Bool && kind <= reflect.Complex128 && kind != reflect.Uintptr,
		kind == reflect.String,
		kind == reflect.Struct && t.NumField() == 0:
		return func(v T) T { return v }
	default:
		return nil
	}
}
