package idem

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
)

// A Codec encodes results for the record. Implementations are safe for
// concurrent use.
type Codec interface {
	// Name is recorded with every result: a short word of ASCII without
	// spaces. A result that was recorded by a codec of another name is a
	// *DecodeError, so a change of the encoding needs a new name.
	Name() string

	// Marshal encodes the result that v, a pointer to its type, leads to.
	Marshal(v any) ([]byte, error)

	// Unmarshal decodes what Marshal wrote into v, such a pointer.
	Unmarshal(data []byte, v any) error
}

// NewCodec makes a codec of two functions, as Codec describes them.
func NewCodec(name string, marshal func(v any) ([]byte, error), unmarshal func(data []byte, v any) error) Codec {
	return funcCodec{name, marshal, unmarshal}
}

type funcCodec struct {
	name      string
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
}

func (c funcCodec) Name() string                       { return c.name }
func (c funcCodec) Marshal(v any) ([]byte, error)      { return c.marshal(v) }
func (c funcCodec) Unmarshal(data []byte, v any) error { return c.unmarshal(data, v) }

// jsonCodec is encoding/json, and an error for what it would change silently.
type jsonCodec struct{}

func (jsonCodec) Name() string { return "json" }

func (jsonCodec) Marshal(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return data, checkUTF8(v, data)
}

func (jsonCodec) Unmarshal(data []byte, v any) error { return json.Unmarshal(data, v) }

// checkUTF8 refuses JSON in which encoding/json replaced bytes that are not
// UTF-8. It writes the replacement as an escape, as it writes no valid string;
// what a marshaler of the type's own wrote so survives a round trip.
func checkUTF8(v any, data []byte) error {
	if !bytes.Contains(data, []byte(`\ufffd`)) {
		return nil
	}
	back := reflect.New(reflect.TypeOf(v).Elem())
	if err := json.Unmarshal(data, back.Interface()); err != nil {
		return err
	}
	again, err := json.Marshal(back.Interface())
	if err != nil {
		return err
	}
	if !bytes.Equal(data, again) {
		return errors.New("a string is not valid UTF-8, which JSON cannot keep")
	}
	return nil
}
