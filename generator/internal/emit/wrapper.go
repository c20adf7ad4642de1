package emit

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/idemgen/idem/generator/internal/model"
)

// A wrapper prints the declarations for one interface.
type wrapper struct {
	file       *file
	src        *model.Interface
	typeParams []string // names, by index
	next       string   // field that holds the wrapped value
	methods    []*method
	functions  []*function // the constructor, then the methods
}

func newWrapper(f *file, src *model.Interface) *wrapper {
	w := &wrapper{file: f, src: src}
	var params []string
	for _, p := range src.TypeParams {
		params = append(params, p.Name)
	}
	w.typeParams = typeParameterNames(params, f.declared)

	methods := make([]string, len(src.Methods))
	fields := []string{"next"}
	for i, m := range src.Methods {
		methods[i] = m.Name
		if m.Keyed != nil {
			fields = append(fields, unexported(m.Name))
		}
	}
	fields = fieldNames(fields, methods)
	w.next, fields = fields[0], fields[1:]

	w.functions = []*function{newFunction(w, w.constructor)}
	for i := range src.Methods {
		m := &method{wrapper: w, src: &src.Methods[i]}
		if m.src.Keyed != nil {
			m.field, fields = fields[0], fields[1:]
			m.nameResults()
		}
		w.methods = append(w.methods, m)
		w.functions = append(w.functions, newFunction(w, m.print))
	}
	return w
}

// print returns the wrapper's declarations.
func (w *wrapper) print() []jen.Code {
	code := []jen.Code{w.assertion(), w.structType(), w.functions[0].print()}
	for i, m := range w.methods {
		if m.resultsType != "" {
			code = append(code, m.resultsStruct())
		}
		code = append(code, w.functions[i+1].print())
	}
	return code
}

// assertion prints the proof that the wrapper satisfies its interface.
func (w *wrapper) assertion() jen.Code {
	assert := jen.Var().Id("_").Add(w.instance(w.src.Name)).Op("=").
		Parens(jen.Op("*").Add(w.instance(w.src.Wrapper))).Parens(jen.Nil())
	if len(w.typeParams) == 0 {
		return assert
	}
	// A constraint may be no type argument itself, as comparable is none, so
	// the assertion is made for every type that satisfies it.
	return jen.Func().Id("_").Add(w.typeParameters()).Params().Block(assert)
}

func (w *wrapper) structType() jen.Code {
	fields := []jen.Code{jen.Id(w.next).Add(w.instance(w.src.Name))}
	for _, m := range w.methods {
		if m.src.Keyed != nil {
			fields = append(fields, jen.Id(m.field).Op("*").Add(w.qualified(runtimePath, "Method")).Types(m.stored(w)))
		}
	}
	return comment(w.doc()).Line().
		Type().Id(w.src.Wrapper).Add(w.typeParameters()).Struct(fields...)
}

// doc says which methods run once and which do not.
func (w *wrapper) doc() string {
	var keyed, passed []string
	for _, m := range w.methods {
		if m.src.Keyed != nil {
			keyed = append(keyed, m.src.Name)
		} else {
			passed = append(passed, m.src.Name)
		}
	}
	doc := w.src.Wrapper + " is " + withArticle(w.src.Name) + " whose " + enumeration(keyed)
	if len(keyed) == 1 {
		doc += " runs once per key."
	} else {
		doc += " run once per key."
	}
	const few = 6
	switch n := len(passed); {
	case n == 1:
		doc += " " + passed[0] + " passes through."
	case n > few:
		doc += " The other methods pass through."
	case n > 1:
		doc += " " + enumeration(passed) + " pass through."
	}
	return doc
}

func withArticle(name string) string {
	if strings.ContainsAny(name[:1], "AEIOUaeiou") {
		return "an " + name
	}
	return "a " + name
}

// constructor prints the function that makes a wrapper.
func (w *wrapper) constructor(fn *function) *jen.Statement {
	fn.parameters(nil, nil)
	next, store := fn.local("next"), fn.local("store")
	fields := []jen.Code{field(w.next, jen.Id(next))}
	for _, m := range w.methods {
		if m.src.Keyed != nil {
			fields = append(fields, field(m.field, m.options(fn, store)))
		}
	}
	doc := w.src.Constructor + " returns " + withArticle(w.src.Name) +
		" that calls " + next + " and keeps the outcomes of its idempotent methods in " + store + "."
	if methods := w.transactional(); len(methods) > 0 {
		doc += " It panics if the backend of " + store + " cannot begin transactions, which " + enumeration(methods)
		if len(methods) == 1 {
			doc += " needs."
		} else {
			doc += " need."
		}
	}
	return comment(doc).Line().Func().Id(w.src.Constructor).Add(w.typeParameters()).
		Params(jen.Id(next).Add(w.instance(w.src.Name)), jen.Id(store).Op("*").Add(w.qualified(runtimePath, "Store"))).
		Op("*").Add(w.instance(w.src.Wrapper)).
		Block(jen.Return(jen.Op("&").Add(fn.instance(w.src.Wrapper)).Add(literal(fields))))
}

// transactional returns the methods that run in a transaction.
func (w *wrapper) transactional() (methods []string) {
	for _, m := range w.methods {
		if m.src.Keyed != nil && m.src.Keyed.Tx {
			methods = append(methods, m.src.Name)
		}
	}
	return methods
}

// typeParameters prints the type parameters with their constraints.
func (w *wrapper) typeParameters() *jen.Statement {
	var list []jen.Code
	for i, p := range w.src.TypeParams {
		list = append(list, jen.Id(w.typeParams[i]).Add(w.code(p.Constraint)))
	}
	return jen.Types(list...)
}

// typeArguments prints the type parameters as arguments.
func (w *wrapper) typeArguments() *jen.Statement {
	var list []jen.Code
	for _, name := range w.typeParams {
		list = append(list, jen.Id(name))
	}
	return jen.Types(list...)
}

// instance prints a type of the package with the wrapper's type parameters.
func (w *wrapper) instance(name string) *jen.Statement {
	return jen.Id(name).Add(w.typeArguments())
}

// field prints a member of a literal.
func field(name string, value jen.Code) jen.Code {
	return jen.Id(name).Op(":").Add(value)
}

// literal prints the members of a composite literal, one a line.
func literal(members []jen.Code) *jen.Statement {
	return jen.Custom(jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, members...)
}
