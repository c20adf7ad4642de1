package lock

import (
	"fmt"
	"slices"
	"testing"

	"github.com/idemgen/idem/generator/internal/model"
)

func named(name string, p model.Plan) model.Plan {
	p.Type = model.Code{{Kind: model.Qualified, Text: name, Package: "m"}}
	return p
}

func of(kind model.PlanKind, elem model.Plan) model.Plan { return model.Plan{Kind: kind, Elem: &elem} }

// What the bytes of a fingerprint do not depend on is not written: the width of
// numbers, the order of fields, the names of types other than structs.
func TestArguments(t *testing.T) {
	leaf := func(kind model.PlanKind) model.Plan { return model.Plan{Kind: kind} }
	ref := func(id int) model.Plan { return model.Plan{Kind: model.Ref, Ref: id} }
	node := named("Node", model.Plan{Kind: model.Struct, ID: 1, Fields: []model.FieldPlan{
		{Name: "Next", Plan: of(model.Pointer, ref(1))},
		{Name: "Name", Plan: leaf(model.String)},
	}})
	list := named("List", of(model.Slice, ref(2)))
	list.ID = 2
	cycle := named("Cycle", of(model.Slice, named("Turn", model.Plan{Kind: model.Struct, Fields: []model.FieldPlan{{Name: "Again", Plan: ref(3)}}})))
	cycle.ID = 3
	anonymous := model.Plan{Kind: model.Struct, Type: model.Code{{Text: "struct{N int}"}}, Fields: []model.FieldPlan{{Name: "N", Plan: leaf(model.Uint)}}}
	foreign := named("Node", model.Plan{Kind: model.Struct})
	foreign.Type[0].Package = "other"

	for want, plan := range map[string]model.Plan{
		"bool []":         leaf(model.Bool),
		"int []":          leaf(model.Int),
		"float []":        leaf(model.Float32),
		"complex []":      leaf(model.Complex128),
		"text []":         leaf(model.TextAddress),
		"param []":        leaf(model.Reflect),
		"id4 []":          {Kind: model.Identifier, Len: 4},
		"[2]string []":    {Kind: model.Array, Len: 2, Elem: &model.Plan{Kind: model.String}},
		"map[int]time []": {Kind: model.Map, Key: &model.Plan{Kind: model.Uint}, Elem: &model.Plan{Kind: model.Time}},
		"*{Node} [{Node [{Name string} {Next *{Node}}]}]": of(model.Pointer, node),
		"[]^1 []":                              list,
		"[]{Turn} [{Turn [{Again []{Turn}}]}]": cycle,
		"[]{struct} [{struct [{N int}]}]":      of(model.Slice, anonymous),
	} {
		covered, fields := arguments([]model.Argument{{Name: "a", Plan: plan}})
		if got := fmt.Sprintf("%s %v", covered[0].Type, fields); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}

	covered, fields := arguments([]model.Argument{
		{Name: "f(\n\ta)", Plan: node}, {Name: "b", Plan: foreign}, {Name: "c", Plan: node}, {Name: "d", Plan: list},
	})
	if want := []Argument{{"{Node}", "f( a)"}, {"{Node.2}", "b"}, {"{Node}", "c"}, {"[]^1", "d"}}; !slices.Equal(covered, want) {
		t.Errorf("got %v", covered)
	}
	if len(fields) != 2 || fields[0].Name != "Node" || fields[1].Name != "Node.2" {
		t.Errorf("got %v", fields)
	}
}
