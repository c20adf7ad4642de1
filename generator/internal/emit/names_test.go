package emit

import (
	"go/types"
	"maps"
	"slices"
	"testing"
)

func TestFresh(t *testing.T) {
	tests := []struct {
		rule   string
		taken  []string
		wanted string
		want   string
	}{
		{"a free name stays", nil, "key", "key"},
		{"a taken name is numbered from 2", []string{"key"}, "key", "key2"},
		{"numbers that are taken are left out", []string{"key", "key2", "key3"}, "key", "key4"},
		{"a keyword is never free", nil, "type", "type2"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			n := newNames(tt.taken)
			if got := n.fresh(tt.wanted); got != tt.want {
				t.Errorf("fresh(%q) = %q, want %q", tt.wanted, got, tt.want)
			}
			if again := n.fresh(tt.wanted); again == tt.want {
				t.Errorf("fresh(%q) gave %q twice", tt.wanted, again)
			}
		})
	}
}

func TestPredeclared(t *testing.T) {
	if want := newNames(types.Universe.Names()); !maps.Equal(predeclared, want) {
		t.Errorf("the universe holds %v, not %v", want, predeclared)
	}
}

func TestImportNames(t *testing.T) {
	tests := []struct {
		rule     string
		wants    []importWant
		declared []string
		want     map[string]string
	}{
		{
			"a free name stays",
			[]importWant{{path: "net/url", preferred: "url"}},
			nil,
			map[string]string{"net/url": "url"},
		}, {
			"two packages of one name: the first path keeps it",
			[]importWant{{path: "b/model", preferred: "model"}, {path: "a/model", preferred: "model"}},
			nil,
			map[string]string{"a/model": "model", "b/model": "model2"},
		}, {
			"the package scope comes first",
			[]importWant{{path: "net/url", preferred: "url"}},
			[]string{"url"},
			map[string]string{"net/url": "url2"},
		}, {
			"a predeclared name is not hidden from the whole file",
			[]importWant{{path: "x/string", preferred: "string"}, {path: "x/any", preferred: "any"}},
			nil,
			map[string]string{"x/string": "string2", "x/any": "any2"},
		}, {
			"no package can be imported as init",
			[]importWant{{path: "x/init", preferred: "init"}},
			nil,
			map[string]string{"x/init": "init2"},
		}, {
			"parameters keep their names",
			[]importWant{{path: "net/url", preferred: "url", avoid: newNames([]string{"url", "url2"})}},
			nil,
			map[string]string{"net/url": "url3"},
		}, {
			"a parameter is in the way only of what its method mentions",
			[]importWant{
				{path: "a/url", preferred: "url", avoid: newNames([]string{"url"})},
				{path: "net/url", preferred: "url"},
			},
			nil,
			map[string]string{"a/url": "url2", "net/url": "url"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			reversed := slices.Clone(tt.wants)
			slices.Reverse(reversed)
			for _, wants := range [][]importWant{tt.wants, reversed} {
				if got := importNames(wants, newNames(tt.declared)); !maps.Equal(got, tt.want) {
					t.Errorf("got %v, want %v", got, tt.want)
				}
			}
		})
	}
}

func TestAssumedName(t *testing.T) {
	for path, want := range map[string]string{
		"context":            "context",
		"net/url":            "url",
		"math/rand/v2":       "rand",
		"example.com/fx/v12": "fx",
		"example.com/v":      "v",
		"example.com/vat":    "vat",
		"v2":                 "v2",
		"gopkg.in/yaml.v3":   "yaml.v3", // so that the import says yaml
	} {
		if got := assumedName(path); got != want {
			t.Errorf("assumedName(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestParameterNames(t *testing.T) {
	tests := []struct {
		rule     string
		source   []string
		fallback []string
		hidden   []string
		want     []string
	}{
		{"names stay", []string{"ctx", "idem", "string"}, []string{"", "", ""}, nil, []string{"ctx", "idem", "string"}},
		{"the unnamed get names", []string{"", ""}, []string{"ctx", "arg2"}, nil, []string{"ctx", "arg2"}},
		{"the blank get names", []string{"_", "to"}, []string{"ctx", "arg2"}, nil, []string{"ctx", "to"}},
		{"a made-up name avoids a later parameter", []string{"_", "ctx"}, []string{"ctx", "arg2"}, nil, []string{"ctx2", "ctx"}},
		{"a made-up name hides nothing", []string{"_"}, []string{"ctx"}, []string{"ctx"}, []string{"ctx2"}},
		{"a name that the body needs is not hidden", []string{"string", "account"}, []string{"", ""}, []string{"string", "account"}, []string{"string2", "account2"}},
		{"a renamed parameter avoids the others", []string{"string", "string2"}, []string{"", ""}, []string{"string"}, []string{"string3", "string2"}},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			hidden := newNames(tt.hidden)
			if got := parameterNames(tt.source, tt.fallback, hidden); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if len(hidden) != len(tt.hidden) {
				t.Errorf("hidden changed to %v", hidden)
			}
		})
	}
}

func TestTypeParameterNames(t *testing.T) {
	tests := []struct {
		rule     string
		source   []string
		declared []string
		want     []string
	}{
		{"names stay", []string{"K", "V"}, nil, []string{"K", "V"}},
		{"a blank one gets a name", []string{"_", "T"}, nil, []string{"T2", "T"}},
		{"the package scope is not hidden", []string{"Node"}, []string{"Node"}, []string{"Node2"}},
		{"the universe is not hidden", []string{"string"}, nil, []string{"string2"}},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			if got := typeParameterNames(tt.source, newNames(tt.declared)); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFieldNames(t *testing.T) {
	tests := []struct {
		rule    string
		wanted  []string
		methods []string
		want    []string
	}{
		{"names stay", []string{"next", "charge"}, []string{"Charge"}, []string{"next", "charge"}},
		{"a field is no method", []string{"next", "store"}, []string{"next", "Next", "store"}, []string{"next2", "store2"}},
		{"fields differ", []string{"next", "id", "id"}, []string{"ID", "Id"}, []string{"next", "id", "id2"}},
		{"a method called Type", []string{"type"}, []string{"Type"}, []string{"type2"}},
		{"a predeclared name is a fine field", []string{"len", "string"}, nil, []string{"len", "string"}},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			if got := fieldNames(tt.wanted, tt.methods); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestExportedNames(t *testing.T) {
	tests := []struct {
		rule   string
		source []string
		want   []string
	}{
		{"results are raised", []string{"debit", "Credit"}, []string{"Debit", "Credit"}},
		{"unnamed and blank ones are numbered", []string{"", "_"}, []string{"Result1", "Result2"}},
		{"names that meet are numbered", []string{"debit", "Debit"}, []string{"Debit", "Debit2"}},
		{"a letter without case cannot be exported", []string{"世界", "_x"}, []string{"Result1", "X"}},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			if got := exportedNames(tt.source, []string{"Result1", "Result2"}); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestUnexported(t *testing.T) {
	for name, want := range map[string]string{
		"Charge":    "charge",
		"URLFor":    "urlFor",
		"ID":        "id",
		"HTTP2Get":  "http2Get",
		"already":   "already",
		"Éclair":    "éclair",
		"世界":        "世界",
		"ABTest":    "abTest",
		"X":         "x",
		"IPv6":      "iPv6",
		"_Exported": "_Exported",
	} {
		if got := unexported(name); got != want {
			t.Errorf("unexported(%q) = %q, want %q", name, got, want)
		}
	}
}
