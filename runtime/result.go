package idem

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// A recorded result is an envelope that backends do not look into: one line
// of ASCII, then the payload.
//
//	1v json\n{"ID":"r-1"}
//
// The line holds the format's version, the kind of the outcome, a space and
// the name of the codec. The bytes are a stored format: golden tests pin them.
const (
	envelopeVersion     = '1'
	envelopeValue       = 'v' // the payload is the encoded result
	envelopeUnavailable = 'u' // executed, but the result was not kept; the payload says why
)

const jsonCodec = "json"

// jsonValueHeader begins every record of a value in JSON.
const jsonValueHeader = "1v " + jsonCodec + "\n"

// encodeResult puts v into an envelope. If v cannot be encoded, or the
// envelope would exceed limit bytes, the envelope is one without the result,
// and err says why.
func encodeResult[T any](v T, limit int) (envelope []byte, err error) {
	payload, err := marshal(v)
	if err == nil && len(jsonValueHeader)+len(payload) > limit {
		err = fmt.Errorf("%d bytes exceed the limit of %d", len(payload), limit)
	}
	if err != nil {
		return fmt.Appendf(nil, "%c%c %s\n%v", envelopeVersion, envelopeUnavailable, jsonCodec, err), err
	}
	envelope = make([]byte, 0, len(jsonValueHeader)+len(payload))
	envelope = append(envelope, jsonValueHeader...)
	return append(envelope, payload...), nil
}

// marshal encodes v in JSON. A marshaler that panics has failed to encode.
func marshal[T any](v T) (payload []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a marshaler panicked: %v", p)
		}
	}()
	payload, err = json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return payload, checkUTF8[T](payload)
}

// checkUTF8 refuses a payload in which encoding/json replaced bytes that are
// not UTF-8. It writes the replacement as an escape, which it writes for
// nothing else that is a string; what a marshaler of the type's own wrote
// survives a round trip.
func checkUTF8[T any](payload []byte) error {
	if !bytes.Contains(payload, []byte(`\ufffd`)) {
		return nil
	}
	var v T
	if err := json.Unmarshal(payload, &v); err != nil {
		return err
	}
	again, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if !bytes.Equal(payload, again) {
		return errors.New("a string is not valid UTF-8, which JSON cannot keep")
	}
	return nil
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

// decodeResult brings a recorded result back. Its error is
// ErrResultUnavailable or a *DecodeError.
func decodeResult[T any](operation, key string, envelope []byte) (v T, err error) {
	if payload, ok := bytes.CutPrefix(envelope, []byte(jsonValueHeader)); ok {
		if err := json.Unmarshal(payload, &v); err != nil {
			var zero T
			return zero, &DecodeError{Operation: operation, Key: key, Codec: jsonCodec, Err: err}
		}
		return v, nil
	}
	kind, codec, payload, err := openEnvelope(envelope)
	switch {
	case err != nil:
	case kind == envelopeUnavailable:
		return v, &CallError{Operation: operation, Key: key, Err: fmt.Errorf("%w: %s", ErrResultUnavailable, payload)}
	case kind == envelopeValue:
		err = fmt.Errorf("recorded by the codec %q, and the method now uses %q", codec, jsonCodec)
	default:
		err = fmt.Errorf("unknown kind of outcome %q", kind)
	}
	return v, &DecodeError{Operation: operation, Key: key, Codec: codec, Err: err}
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
