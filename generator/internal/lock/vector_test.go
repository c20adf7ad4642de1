package lock

import (
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idem/generator/internal/model"
)

// That these are the keys that the runtime makes is a test of both, elsewhere.
func TestVectorsAndEncodings(t *testing.T) {
	leaf := func(kind model.PlanKind) *model.Plan { return &model.Plan{Kind: kind} }
	tree := &model.Plan{Kind: model.Struct, ID: 1, Fields: []model.FieldPlan{
		{Name: "Name", Plan: *leaf(model.String)},
		{Name: "Kids", Plan: model.Plan{Kind: model.Slice, Elem: &model.Plan{Kind: model.Ref, Ref: 1}}},
	}}
	for encoded, c := range map[string]struct {
		plan    *model.Plan
		vectors []string
	}{
		"bool":      {leaf(model.Bool), []string{"o/true", "o/false", "o/false"}},
		"int":       {leaf(model.Int), []string{"o/1", "o/-2", "o/127"}},
		"uint":      {leaf(model.Uint), []string{"o/1", "o/2", "o/255"}},
		"float32":   {leaf(model.Float32), []string{"o/3f800000", "o/bf000000", "o/501502f9"}},
		"float64":   {leaf(model.Float64), []string{"o/3ff0000000000000", "o/bfe0000000000000", "o/4202a05f20000000"}},
		"complex64": {leaf(model.Complex64), []string{"o/3f800000:3f800000", "o/bf000000:bf000000", "o/501502f9:501502f9"}},
		"time":      {leaf(model.Time), []string{"o/2006-01-02T15:04:05Z", "o/1969-12-31T23:59:59.999Z", "o/2038-01-19T03:14:08.000000001Z"}},
		"text":      {leaf(model.TextAddress), []string{"o/a", "o/%C3%BC%2F%2C%25", "o/d~"}},
		"id2":       {&model.Plan{Kind: model.Identifier, Len: 2}, []string{"o/0102", "o/1112", "o/2122"}},
		"*string":   {&model.Plan{Kind: model.Pointer, Elem: leaf(model.String)}, []string{"o/a", "o/%C3%BC%2F%2C%25"}},
		"[]bool":    {&model.Plan{Kind: model.Slice, Elem: leaf(model.Bool)}, []string{"o/(true)", "o/(false,false)"}},
		"[2]string": {&model.Plan{Kind: model.Array, Len: 2, Elem: leaf(model.String)}, []string{"o/(a,a)", "o/(%C3%BC%2F%2C%25,%C3%BC%2F%2C%25)"}},
		"map[int]id1": {
			&model.Plan{Kind: model.Map, Key: leaf(model.Int), Elem: &model.Plan{Kind: model.Identifier, Len: 1}},
			[]string{"o/(1=01)", "o/(-2=11)"},
		},
		"1(Name:string,Kids:[]@1)": {tree, []string{"o/(a,())", "o/(%C3%BC%2F%2C%25,())"}},
	} {
		if got := Encoding(c.plan); got != encoded {
			t.Errorf("%s is written as %s", encoded, got)
		}
		if got := vectors("o", []model.Part{{Plan: *c.plan}}); !slices.Equal(got, c.vectors) {
			t.Errorf("%s: got %q", encoded, got)
		}
	}
}

func TestVectorsOfLongKeys(t *testing.T) {
	const tail = len("%sha256:") + 64
	for length, head := range map[int]int{179: 184, 180: 182, 181: 183, 182: 184} {
		part := model.Part{Plan: model.Plan{Kind: model.Array, Len: 9, Elem: &model.Plan{Kind: model.String}}}
		got := vectors(strings.Repeat("n", length), []model.Part{part})[1]
		if len(got) != head+tail || strings.Count(got[head:], "%") != 1 {
			t.Errorf("%d: got %d bytes, %s", length, len(got), got)
		}
	}
}
