package emit

import (
	"regexp"
	"strconv"

	"github.com/idemgen/idem/generator/internal/model"
)

// The models of these tests are written down with Go source for their code.
// own is the import path of the package that they are in.
const own = "example.com/payments"

// packages are those that the source may name.
var packages = map[string]model.Package{
	"context":           {Name: "context"},
	"net/netip":         {Name: "netip"},
	"net/url":           {Name: "url"},
	"time":              {Name: "time", Alias: "clock"},
	"example.com/model": {Name: "model"},
	"example.com/key":   {Name: "key"},
	"example.com/yaml":  {Name: "yaml", Alias: "."},
}

var words = regexp.MustCompile(`\$\d+|[a-z]+\.[A-Z]\w*|\w+|[^\w$]+`)

// code splits Go source into pieces. $0 is the first parameter, one upper-case
// letter a type parameter, and another capitalised or a known word a name of
// the package's own.
func code(source string) model.Code {
	var c model.Code
	afterDot := false
	for _, w := range words.FindAllString(source, -1) {
		piece := model.Piece{Text: w}
		switch pkg, name := qualifier(w); {
		case w[0] == '$':
			piece.Kind = model.Param
			piece.Text = ""
			piece.Param, _ = strconv.Atoi(w[1:])
		case pkg != "":
			piece = model.Piece{Kind: model.Qualified, Package: pkg, Text: name}
		case afterDot:
		case predeclared[w]:
			piece.Kind = model.Universe
		case len(w) == 1 && w >= "A" && w <= "Z":
			piece.Kind = model.TypeParam
		case w[0] >= 'A' && w[0] <= 'Z' || w == "tenant":
			piece = model.Piece{Kind: model.Qualified, Package: own, Text: w}
		}
		afterDot = w[len(w)-1] == '.'
		c = append(c, piece)
	}
	return c
}

// qualifier splits word if it is a name of another package.
func qualifier(word string) (path, name string) {
	for path, pkg := range packages {
		if n := len(pkg.Name) + 1; len(word) > n && word[:n] == pkg.Name+"." {
			return path, word[n:]
		}
	}
	return "", ""
}

// params alternates names and types.
func params(namesAndTypes ...string) []model.Parameter {
	var list []model.Parameter
	for i := 0; i < len(namesAndTypes); i += 2 {
		list = append(list, model.Parameter{Name: namesAndTypes[i], Type: code(namesAndTypes[i+1])})
	}
	return list
}

// exact is a leaf whose type is the one that the builders take.
func exact(kind model.PlanKind, typ string) model.Plan {
	return model.Plan{Kind: kind, Type: code(typ), Exact: true}
}

var (
	str     = exact(model.String, "string")
	integer = model.Plan{Kind: model.Int, Type: code("int")}
	assign  = model.Plan{Kind: model.Assign, Type: code("string")}
)

// of is a plan with an element.
func of(kind model.PlanKind, typ string, elem model.Plan) model.Plan {
	return model.Plan{Kind: kind, Type: code(typ), Elem: &elem}
}

// mapOf is a map from strings.
func mapOf(typ string, elem model.Plan) model.Plan {
	return model.Plan{Kind: model.Map, Type: code(typ), Key: &str, Elem: &elem}
}

// structOf is a struct with the given fields.
func structOf(typ string, fields ...model.FieldPlan) model.Plan {
	return model.Plan{Kind: model.Struct, Type: code(typ), Fields: fields}
}

func fieldOf(name string, p model.Plan) model.FieldPlan { return model.FieldPlan{Name: name, Plan: p} }

// part is a key part.
func part(expr string, p model.Plan) model.Part {
	return model.Part{Source: expr, Expr: code(expr), Plan: p}
}

// argument is a member of the fingerprint.
func argument(name, expr string, p model.Plan) model.Argument {
	return model.Argument{Name: name, Expr: code(expr), Plan: p}
}

// fileOf is a file with one interface.
func fileOf(methods ...model.Method) model.File {
	return model.File{
		Path:        "/src/payments/payments_idem.go",
		Package:     "payments",
		PackagePath: own,
		Packages:    packages,
		Interfaces: []model.Interface{{
			Name:        "Payments",
			Wrapper:     "IdempotentPayments",
			Constructor: "NewIdempotentPayments",
			Methods:     methods,
		}},
	}
}
