package idem

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A Final names an error that is an outcome: a card that was declined stays
// declined. Such an error is recorded and replayed like a result, while all
// others mean that nothing is recorded.
type Final struct {
	name  string
	match func(error) (target error, ok bool)

	// decode restores an error from its fields; nil if the error is a value
	// of the program, which restore then is.
	decode  func([]byte) (error, error)
	restore error
}

// FinalError makes errors final that are target, by errors.Is. The name is
// recorded and must not change; generated code uses the source text.
func FinalError(name string, target error) Final {
	return Final{
		name:    name,
		match:   func(err error) (error, bool) { return target, errors.Is(err, target) },
		restore: target,
	}
}

// FinalType makes errors final that have the type E in their chain, by
// errors.As. The error's fields are recorded in JSON and restored on a replay.
func FinalType[E error](name string) Final {
	return Final{
		name: name,
		match: func(err error) (error, bool) {
			target, ok := errors.AsType[E](err)
			return target, ok
		},
		decode: func(data []byte) (error, error) {
			var target E
			err := json.Unmarshal(data, &target)
			return target, err
		},
	}
}

// recordedError is how a final error is recorded.
type recordedError struct {
	Text    string          `json:"text"`
	Matches []recordedMatch `json:"matches"`
}

type recordedMatch struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value,omitempty"` // the fields, of a FinalType

	// Bare says that the error was the target itself and not one that wraps it.
	Bare bool `json:"bare,omitempty"`
}

// final tells whether err is an outcome of the operation, and if so what to
// record of it. err may match several finals, which all hold on a replay.
func (o *operation) final(err error) (recorded *recordedError, isFinal bool, encodeErr error) {
	for _, f := range o.finals {
		target, ok := f.match(err)
		if !ok {
			continue
		}
		m := recordedMatch{Name: f.name, Bare: same(err, target)}
		if f.decode != nil {
			if m.Value, encodeErr = marshal(jsonCodec{}, &target); encodeErr != nil {
				return nil, true, fmt.Errorf("the error %s: %w", f.name, encodeErr)
			}
		}
		if recorded == nil {
			recorded = &recordedError{Text: err.Error()}
		}
		recorded.Matches = append(recorded.Matches, m)
	}
	return recorded, recorded != nil, nil
}

// same reports whether a and b are one error. Errors need not be comparable.
func same(a, b error) (equal bool) {
	defer func() { _ = recover() }()
	return a == b //nolint:errorlint // identity is what is asked
}

// restore brings a final error back.
func (o *operation) restore(line []byte) (error, error) {
	var recorded recordedError
	if err := json.Unmarshal(line, &recorded); err != nil {
		return nil, fmt.Errorf("the recorded error: %w", err)
	}
	replayed := &replayedError{text: recorded.Text}
	for _, m := range recorded.Matches {
		target, err := o.restoreMatch(m)
		if err != nil {
			return nil, err
		}
		if m.Bare {
			return target, nil
		}
		replayed.targets = append(replayed.targets, target)
	}
	return replayed, nil
}

func (o *operation) restoreMatch(m recordedMatch) (error, error) {
	for _, f := range o.finals {
		if f.name != m.Name {
			continue
		}
		if f.decode == nil {
			return f.restore, nil
		}
		target, err := f.decode(m.Value)
		if err != nil {
			return nil, fmt.Errorf("the recorded error %s: %w", m.Name, err)
		}
		return target, nil
	}
	return nil, fmt.Errorf("the recorded error %s is not final any more", m.Name)
}

// replayedError is a final error that wrapped others, brought back from the
// record: the text is the original's, errors.Is and errors.As find the finals.
type replayedError struct {
	text    string
	targets []error
}

func (e *replayedError) Error() string   { return e.text }
func (e *replayedError) Unwrap() []error { return e.targets }
