package lock

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idem/generator/internal/model"
)

// An Argument is what one member of the fingerprint covers.
type Argument struct {
	Type   string // as in Entry.Fields
	Source string
}

// arguments returns what a fingerprint covers, and the structs in it.
func arguments(list []model.Argument) (covered []Argument, fields []model.Object) {
	w := coverage{names: map[string]string{}, taken: map[string]int{}}
	for _, a := range list {
		w.plans = map[int]*model.Plan{}
		w.collect(&a.Plan)
		covered = append(covered, Argument{w.typ(&a.Plan), oneLine(a.Name)})
	}
	slices.SortFunc(w.fields, func(a, b model.Object) int { return strings.Compare(a.Name, b.Name) })
	return covered, w.fields
}

// A coverage writes all of plans that the bytes of a fingerprint depend on, in
// the notation of model.Shape. Numbers of every width and sign are written
// alike there, and fields by their names, those that are zero not at all: their
// order does not count, nor what is added to them.
type coverage struct {
	fields []model.Object
	names  map[string]string   // of structs, by their types
	taken  map[string]int      // how often a name was given
	plans  map[int]*model.Plan // where a Ref leads
	around []int               // the plans around that are no structs and to which a Ref leads, up to a struct
}

// collect finds the plans to which a Ref can lead.
func (w *coverage) collect(p *model.Plan) {
	if p == nil {
		return
	}
	if p.ID != 0 {
		w.plans[p.ID] = p
	}
	w.collect(p.Elem)
	w.collect(p.Key)
	for i := range p.Fields {
		w.collect(&p.Fields[i].Plan)
	}
}

var coveredLeaves = map[model.PlanKind]string{
	model.Int: "int", model.Uint: "int",
	model.Float32: "float", model.Float64: "float",
	model.Complex64: "complex", model.Complex128: "complex",
}

func (w *coverage) typ(p *model.Plan) string {
	if p.ID != 0 && p.Kind != model.Struct {
		w.around = append(w.around, p.ID)
		defer func() { w.around = w.around[:len(w.around)-1] }()
	}
	switch p.Kind {
	case model.Pointer:
		return "*" + w.typ(p.Elem)
	case model.Slice:
		return "[]" + w.typ(p.Elem)
	case model.Array:
		return "[" + strconv.FormatInt(p.Len, 10) + "]" + w.typ(p.Elem)
	case model.Map:
		return "map[" + w.typ(p.Key) + "]" + w.typ(p.Elem)
	case model.Struct:
		return "{" + w.structure(p) + "}"
	case model.Ref:
		if i := slices.Index(w.around, p.Ref); i >= 0 {
			return fmt.Sprintf("^%d", len(w.around)-i)
		}
		return w.typ(w.plans[p.Ref])
	default:
		if name, ok := coveredLeaves[p.Kind]; ok {
			return name
		}
		return Encoding(p)
	}
}

// structure returns the name of a struct, and adds its fields when it is first
// met.
func (w *coverage) structure(p *model.Plan) string {
	id := fmt.Sprint(p.Type)
	if name, ok := w.names[id]; ok {
		return name
	}
	name := "struct"
	if len(p.Type) > 0 && p.Type[0].Kind == model.Qualified {
		name = p.Type[0].Text
	}
	w.taken[name]++
	if n := w.taken[name]; n > 1 {
		name = fmt.Sprintf("%s.%d", name, n)
	}
	w.names[id] = name
	around := w.around
	w.around = nil // a struct means the same wherever it is
	out := model.Object{Name: name}
	for i := range p.Fields {
		f := &p.Fields[i]
		out.Members = append(out.Members, model.Member{Name: f.Name, Type: w.typ(&f.Plan)})
	}
	w.around = around
	slices.SortFunc(out.Members, func(a, b model.Member) int { return strings.Compare(a.Name, b.Name) })
	w.fields = append(w.fields, out)
	return name
}

// fingerprintChanges compares what is covered. A fingerprint of nothing agrees
// with every other.
func (e *Entry) fingerprintChanges(now *Entry) []string {
	was, is := covered(e.Fingerprint), covered(now.Fingerprint)
	if len(was) == 0 || len(is) == 0 {
		return nil
	}
	var texts []string
	for i := range min(len(was), len(is)) {
		texts = append(texts, e.argumentChanges(now, i)...)
	}
	same := len(was) == len(is) && !slices.Contains(e.same(now, was, is), false)
	condition := ""
	switch {
	case same:
		return texts
	case len(was) == len(is) && len(texts) == 0:
		condition = "if its values are others, "
	}
	return []string{fmt.Sprintf("the fingerprint covers %s now, and covered %s: %s%s: write //idem:fingerprint %s; %s",
		strings.Join(is, ", "), strings.Join(was, ", "), condition, conflicts, strings.Join(was, ", "), accept)}
}

// argumentChanges compares the types of what is covered in one place.
func (e *Entry) argumentChanges(now *Entry, i int) []string {
	old := covered(now.Fingerprint)
	old[i] = "old(" + old[i] + ")"
	keep := fmt.Sprintf("or cover the value as it was, by a function of yours, as in //idem:fingerprint %s; %s", strings.Join(old, ", "), accept)
	c := newComparison(e.Fields, now.Fields, wording{
		covered: true,
		gone: func(at, _ string) string {
			return fmt.Sprintf("%s is gone from the fingerprint: if it was set, %s: keep the field, %s", at, conflicts, keep)
		},
		changed: func(at, was, is string) string {
			return fmt.Sprintf("%s is fingerprinted as %s now, and was as %s: if it was set, %s: restore its type, %s", at, is, was, conflicts, keep)
		},
	})
	c.compare(now.Fingerprint[i].Source, e.Fingerprint[i].Type, now.Fingerprint[i].Type)
	return c.texts
}

// covered returns the arguments as they are written.
func covered(arguments []Argument) []string {
	var list []string
	for _, a := range arguments {
		list = append(list, a.Source)
	}
	return list
}
