// Package lock records what running systems have stored under the operations
// of a module, and finds where the code has drifted from that.
//
// A record is a file of text, idem.lock, that is committed. Each operation has
// a block of its own, sorted by name, so that changes to different operations
// merge.
package lock

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/idemgen/idem/generator/internal/model"
)

// Name is what the file is called.
const Name = "idem.lock"

// An Entry is what is recorded of one operation.
type Entry struct {
	Operation   string
	Package     string // import path
	Constraint  string // build constraint of the source file, or ""
	Method      string // Payments.Charge, with the names of the parameters
	Parts       []Part
	Fingerprint []Argument
	Fields      []model.Object // the structs that Fingerprint leads to
	Codec       string         // json, proto or custom
	Finals      []Final
	Vectors     []string       // keys for a few values of the parts
	Results     []string       // types, in the notation of model.Shape
	Objects     []model.Object // the structs that Finals and Results lead to

	// Position is where the method is declared, and in an entry that was read
	// from a file where its block begins.
	Position model.Position
}

// A Part is a key part.
type Part struct {
	Encoding string // what its bytes depend on
	Source   string // as written in the directive
}

// A Final is an error that is recorded.
type Final struct {
	Name string
	Type string // in the notation of model.Shape, "" if the error is a value
}

// Entries returns the entries of a package's outputs. Those of tests are left
// out: no running system stores anything under them.
func Entries(files []model.File) []Entry {
	var entries []Entry
	for _, f := range files {
		if strings.HasSuffix(filepath.Base(f.Path), "_test.go") {
			continue
		}
		for _, i := range f.Interfaces {
			for _, m := range i.Methods {
				if m.Keyed != nil {
					entries = append(entries, entry(&f, &i, &m))
				}
			}
		}
	}
	sort(entries)
	// What inherits a method shares its operation.
	return slices.CompactFunc(entries, func(a, b Entry) bool { return a.ID() == b.ID() })
}

func entry(f *model.File, i *model.Interface, m *model.Method) Entry {
	k := m.Keyed
	e := Entry{
		Operation:  k.Operation,
		Package:    f.PackagePath,
		Constraint: f.Constraint,
		Codec:      [...]string{model.JSON: "json", model.Proto: "proto", model.Custom: "custom"}[k.Codec.Kind],
		Results:    k.Shape.Results,
		Objects:    k.Shape.Objects,
		Position:   k.Position,
	}
	var params []string
	for n, p := range m.Params {
		name := p.Name
		if name == "" || name == "_" {
			name = "_" + strconv.Itoa(n)
		}
		params = append(params, name)
	}
	e.Method = i.Name + "." + m.Name + "(" + strings.Join(params, ",") + ")"
	operation := k.Operation
	if n := len(i.TypeParams); n > 0 {
		// Each instance has keys of its own.
		operation += "[" + strings.TrimSuffix(strings.Repeat("string,", n), ",") + "]"
	}
	for _, p := range k.Parts {
		e.Parts = append(e.Parts, Part{Encoding(&p.Plan), oneLine(p.Source)})
	}
	e.Fingerprint, e.Fields = arguments(k.Fingerprint)
	for n, final := range k.Final {
		e.Finals = append(e.Finals, Final{final.Name, k.Shape.Finals[n]})
	}
	e.Vectors = vectors(operation, k.Parts)
	return e
}

// oneLine is source text with every run of spaces made one.
func oneLine(source string) string { return strings.Join(strings.Fields(source), " ") }

// An ID tells entries apart. Files of different build configurations can
// declare one operation each in their own way.
type ID struct{ operation, pkg, constraint string }

// ID returns what tells the entry from all others.
func (e *Entry) ID() ID { return ID{e.Operation, e.Package, e.Constraint} }

// sort puts entries in the order of the file.
func sort(entries []Entry) {
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(
			strings.Compare(a.Operation, b.Operation),
			strings.Compare(a.Package, b.Package),
			strings.Compare(a.Constraint, b.Constraint),
		)
	})
}

var leafNames = map[model.PlanKind]string{
	model.Bool: "bool", model.Int: "int", model.Uint: "uint",
	model.Float32: "float32", model.Float64: "float64",
	model.Complex64: "complex64", model.Complex128: "complex128",
	model.String: "string", model.Bytes: "bytes", model.Time: "time",
	model.AppendText: "text", model.MarshalText: "text", model.TextAddress: "text",
	model.Reflect: "param",
}

// Encoding is all of a plan that the bytes of a key depend on, without spaces:
// integers of every width are written alike, and so are a type and one that is
// named after it. The fields of structs are named, because their order counts.
func Encoding(p *model.Plan) string {
	switch p.Kind {
	case model.Identifier:
		return "id" + strconv.FormatInt(p.Len, 10)
	case model.Pointer:
		return "*" + Encoding(p.Elem)
	case model.Slice:
		return "[]" + Encoding(p.Elem)
	case model.Array:
		return "[" + strconv.FormatInt(p.Len, 10) + "]" + Encoding(p.Elem)
	case model.Map:
		return "map[" + Encoding(p.Key) + "]" + Encoding(p.Elem)
	case model.Ref:
		return "@" + strconv.Itoa(p.Ref)
	case model.Struct:
		var fields []string
		for _, f := range p.Fields {
			fields = append(fields, f.Name+":"+Encoding(&f.Plan))
		}
		inside := "(" + strings.Join(fields, ",") + ")"
		if p.ID != 0 {
			return strconv.Itoa(p.ID) + inside
		}
		return inside
	default:
		return leafNames[p.Kind]
	}
}
