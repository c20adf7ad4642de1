package idem

import (
	"errors"
	"strings"
	"testing"
)

// Envelopes are a stored format: these bytes must never change.
func TestEnvelopeBytes(t *testing.T) {
	type result struct{ ID string }
	for _, c := range []struct {
		name  string
		value any
		limit int
		want  string
	}{
		{"value", result{"r-1"}, 100, "1v json\n{\"ID\":\"r-1\"}"},
		{"no result", struct{}{}, 100, "1v json\n{}"},
		{"nil", (*result)(nil), 100, "1v json\nnull"},
		{"unavailable", strings.Repeat("x", 100), 100, "1u json\n110 bytes exceed the limit of 100"},
	} {
		if got, _ := encodeOutcome(jsonCodec{}, pointerTo(c.value), nil, c.limit); string(got) != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestEnvelopesOfOthers(t *testing.T) {
	for envelope, want := range map[string]string{
		"":                      "does not begin with an envelope",
		"{}":                    "does not begin with an envelope",
		"1v\n{}":                "does not begin with an envelope",
		"2v json\n{}":           "version '2'",
		"1v proto\n\x0a":        `recorded by the codec "proto"`,
		"1x json\n":             "unknown kind of outcome 'x'",
		"1v json\n{\"ID\":1,\"": "unexpected end of JSON",
		"1v json\n{\"ID\":1}":   "cannot unmarshal number",
	} {
		v, _, err := decodeOutcome[struct{ ID string }](&operation{name: "op", codec: jsonCodec{}}, "op/k", []byte(envelope))
		var decode *DecodeError
		if !errors.As(err, &decode) || !strings.Contains(err.Error(), want) || decode.Key != "op/k" {
			t.Errorf("%q: %v, want a *DecodeError with %q", envelope, err, want)
		}
		if v.ID != "" {
			t.Errorf("%q: half a value %+v", envelope, v)
		}
	}
}
