package analyze

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idemgen/idem/generator/internal/diag"
	"github.com/idemgen/idem/generator/internal/model"
)

// lines prints diagnostics as the command does.
func (l *loader) lines(kind string, list []diag.Diagnostic) []string {
	var lines []string
	for _, d := range list {
		lines = append(lines, fmt.Sprintf("%s: %s%s", d.Position, kind, d.Message))
	}
	return lines
}

// A dumper prints a model for people to compare.
type dumper struct {
	strings.Builder
	own string // path of the package at hand
}

func dump(files []model.File) string {
	var d dumper
	for _, f := range files {
		d.file(f)
	}
	return d.String()
}

func (d *dumper) line(indent int, format string, args ...any) {
	fmt.Fprintf(d, "%s%s\n", strings.Repeat("\t", indent), fmt.Sprintf(format, args...))
}

func (d *dumper) file(f model.File) {
	d.own = f.PackagePath
	line := fmt.Sprintf("%s: package %s", filepath.ToSlash(f.Path), f.Package)
	if f.Constraint != "" {
		line += " if " + f.Constraint
	}
	d.line(0, "%s", line)
	var imports []string
	for path, p := range f.Packages {
		imports = append(imports, strings.TrimSpace(path+" "+p.Name+" "+p.Alias))
	}
	slices.Sort(imports)
	for _, i := range imports {
		d.line(0, "import %s", i)
	}
	for _, i := range f.Interfaces {
		d.iface(i)
	}
}

func (d *dumper) iface(i model.Interface) {
	var params []string
	for _, p := range i.TypeParams {
		params = append(params, p.Name+" "+d.code(p.Constraint))
	}
	line := fmt.Sprintf("%s by %s", i.Wrapper, i.Constructor)
	if len(params) > 0 {
		line += " [" + strings.Join(params, ", ") + "]"
	}
	d.line(0, "%s", line)
	for _, m := range i.Methods {
		d.method(m)
	}
}

func (d *dumper) method(m model.Method) {
	d.line(1, "%s(%s) (%s)", m.Name, d.params(m.Params, m.Variadic), d.params(m.Results, false))
	k := m.Keyed
	if k == nil {
		return
	}
	d.line(2, "operation %s", k.Operation)
	if k.Context >= 0 {
		d.line(2, "context %d", k.Context)
	}
	for _, p := range k.Parts {
		fails := ""
		if p.Error {
			fails = " or error"
		}
		d.line(2, "key %s = %s: %s%s", p.Source, d.code(p.Expr), d.plan(p.Plan), fails)
	}
	for _, a := range k.Fingerprint {
		d.line(2, "fingerprint %s = %s: %s", a.Name, d.code(a.Expr), d.plan(a.Plan))
	}
	for _, p := range k.Copy {
		d.line(2, "copy %s", d.plan(p))
	}
	d.outcome(k)
}

func (d *dumper) outcome(k *model.Keyed) {
	for _, o := range k.Shape.Results {
		d.line(2, "result %s", o)
	}
	for _, o := range k.Shape.Objects {
		d.line(2, "object %s %v", o.Name, o.Members)
	}
	for _, l := range k.Loses {
		d.line(2, "loses %s", l)
	}
	for _, f := range k.Final {
		d.line(2, "final %q type=%v %s", f.Name, f.Type, d.code(f.Expr))
	}
	if k.Codec.Kind != model.JSON {
		d.line(2, "codec %d %s", k.Codec.Kind, d.code(k.Codec.Expr))
	}
	if k.Tx {
		d.line(2, "transaction")
	}
	if k.Ask != nil {
		d.line(2, "ask method %q or function %s", k.Ask.Method, d.code(k.Ask.Function))
	}
	policies := fmt.Sprintf("ttl=%v lease=%v reject=%v wait=%v recover=%d optional=%v",
		k.TTL, k.Lease, k.Pending.Reject, k.Pending.Wait, k.Recover, k.Optional)
	if policies != "ttl=0s lease=0s reject=false wait=0s recover=0 optional=false" {
		d.line(2, "%s", policies)
	}
}

func (d *dumper) params(list []model.Parameter, variadic bool) string {
	var all []string
	for i, p := range list {
		dots := ""
		if variadic && i == len(list)-1 {
			dots = "..."
		}
		all = append(all, strings.TrimSpace(p.Name+" "+dots+d.code(p.Type)))
	}
	return strings.Join(all, ", ")
}

// code writes $0 for the first parameter, and names of other packages with
// their paths.
func (d *dumper) code(c model.Code) string {
	var b strings.Builder
	for _, p := range c {
		switch {
		case p.Kind == model.Param:
			fmt.Fprintf(&b, "$%d", p.Param)
		case p.Kind == model.Qualified && p.Package != d.own:
			b.WriteString(p.Package + "." + p.Text)
		default:
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

var kinds = map[model.PlanKind]string{
	model.Bool: "bool", model.Int: "int", model.Uint: "uint", model.Float32: "float32", model.Float64: "float64",
	model.Complex64: "complex64", model.Complex128: "complex128", model.String: "string", model.Bytes: "bytes",
	model.Identifier: "id", model.Time: "time", model.AppendText: "appendtext", model.MarshalText: "marshaltext",
	model.TextAddress: "textaddress", model.Reflect: "reflect", model.Pointer: "pointer", model.Slice: "slice",
	model.Array: "array", model.Struct: "struct", model.Map: "map", model.Ref: "ref", model.Assign: "assign",
}

// plan writes a plan as kind<type>, with ! if the type is exact, 0 if it can be
// compared with its zero value, ~ if it must not be copied.
func (d *dumper) plan(p model.Plan) string {
	s := kinds[p.Kind]
	if p.ID != 0 {
		s = fmt.Sprintf("#%d=%s", p.ID, s)
	}
	if p.Exact {
		s += "!"
	}
	if p.Zero {
		s += "0"
	}
	if p.NoCopy {
		s += "~"
	}
	s += "<" + d.code(p.Type) + ">"
	switch p.Kind {
	case model.Ref:
		return fmt.Sprintf("ref#%d", p.Ref)
	case model.Array, model.Identifier:
		s += fmt.Sprintf("*%d", p.Len)
	case model.Struct:
		var fields []string
		for _, f := range p.Fields {
			fields = append(fields, f.Name+" "+d.plan(f.Plan))
		}
		return s + "{" + strings.Join(fields, "; ") + "}"
	}
	if p.Key != nil {
		s += "[" + d.plan(*p.Key) + "]"
	}
	if p.Elem != nil {
		s += "(" + d.plan(*p.Elem) + ")"
	}
	return s
}
