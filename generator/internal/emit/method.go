package emit

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/idemgen/idem/generator/internal/model"
)

// A method prints one method of a wrapper.
type method struct {
	wrapper *wrapper
	src     *model.Method

	field       string   // of the wrapper, that runs the method
	resultsType string   // struct that holds several results, "" if there is none
	fields      []string // its fields
}

// nameResults names the struct for the results of a method that has several
// beside its error.
func (m *method) nameResults() {
	stored := m.storedResults()
	if len(stored) < 2 {
		return
	}
	m.resultsType = m.wrapper.file.declared.fresh(unexported(m.wrapper.src.Name) + upperFirst(m.src.Name) + "Results")
	m.fields = exportedNames(sourceNames(stored), numbered("Result", len(stored)))
}

// storedResults are all results but the error.
func (m *method) storedResults() []model.Parameter { return m.src.Results[:len(m.src.Results)-1] }

// stored prints the type of what the store keeps of a call.
func (m *method) stored(s scope) *jen.Statement {
	switch results := m.storedResults(); len(results) {
	case 0:
		return jen.Struct()
	case 1:
		return s.code(results[0].Type)
	default:
		return s.instance(m.resultsType)
	}
}

// resultsStruct declares the type of several results. Its JSON names are
// positions, so that renaming a result keeps what is stored readable.
func (m *method) resultsStruct() jen.Code {
	var fields []jen.Code
	for i, r := range m.storedResults() {
		fields = append(fields, jen.Id(m.fields[i]).Add(m.wrapper.code(r.Type)).Tag(map[string]string{"json": strconv.Itoa(i + 1)}))
	}
	return comment(m.resultsType + " is what " + m.src.Name + " returns beside its error.").Line().
		Type().Id(m.resultsType).Add(m.wrapper.typeParameters()).Struct(fields...)
}

// print returns the method's declaration.
func (m *method) print(fn *function) *jen.Statement {
	fn.parameters(sourceNames(m.src.Params), m.fallbackNames())
	inner := maps.Clone(fn.block)
	results, named := m.resultNames(fn)
	receiver := fn.local("w")

	var body []jen.Code
	switch {
	case m.src.Keyed != nil:
		k := keyed{method: m, fn: fn, receiver: receiver, results: results, inner: inner}
		if last := results[len(results)-1]; named && last != "_" {
			k.err, k.declared = last, true
		}
		body = k.body()
	case len(m.src.Results) == 0:
		body = []jen.Code{m.call(receiver, fn.params)}
	default:
		body = []jen.Code{jen.Return(m.call(receiver, fn.params))}
	}

	return m.doc().Line().
		Func().Params(jen.Id(receiver).Op("*").Add(m.wrapper.instance(m.wrapper.src.Wrapper))).
		Id(m.src.Name).
		Params(m.list(fn.params, m.src.Params, m.src.Variadic)...).
		Add(m.resultList(results, named)).
		Block(body...)
}

// doc says what becomes of a call.
func (m *method) doc() *jen.Statement {
	if m.src.Keyed == nil {
		return comment(m.src.Name + " passes through.")
	}
	words := []string{m.src.Name, "runs", "once", "for", "each"}
	end := "."
	if m.src.Keyed.Tx {
		end = ","
	}
	last := len(m.src.Keyed.Parts) - 1
	for i, part := range m.src.Keyed.Parts {
		switch {
		case i == last:
			words = append(words, part.Source+end)
		case i == last-1:
			words = append(words, part.Source, "and")
		default:
			words = append(words, part.Source+",")
		}
	}
	if m.src.Keyed.Tx {
		words = append(words, strings.Fields("in one transaction with the record of its result.")...)
	}
	return wrapped(words)
}

// call prints the call of the wrapped method.
func (m *method) call(receiver string, args []string) *jen.Statement {
	return jen.Id(receiver).Dot(m.wrapper.next).Dot(m.src.Name).Call(m.arguments(args)...)
}

// arguments prints the parameters as another function is called with them.
func (m *method) arguments(args []string) []jen.Code {
	var list []jen.Code
	for i, arg := range args {
		code := jen.Id(arg)
		if m.src.Variadic && i == len(args)-1 {
			code.Op("...")
		}
		list = append(list, code)
	}
	return list
}

// fallbackNames are what parameters are called that have no name of their own.
func (m *method) fallbackNames() []string {
	fallback := numbered("arg", len(m.src.Params))
	for i, p := range m.src.Params {
		if isContext(p.Type) {
			fallback[i] = "ctx"
		}
	}
	return fallback
}

func isContext(c model.Code) bool {
	return len(c) == 1 && c[0].Kind == model.Qualified && c[0].Package == "context" && c[0].Text == "Context"
}

// resultNames decides whether the results have names: where the interface
// names them, which is documentation, and where a key part can fail, which
// needs their zero values.
func (m *method) resultNames(fn *function) (results []string, named bool) {
	source := sourceNames(m.src.Results)
	needed := m.src.Keyed != nil && len(source) > 1 &&
		slices.ContainsFunc(m.src.Keyed.Parts, func(p model.Part) bool { return p.Error })
	named = needed || slices.ContainsFunc(source, func(name string) bool { return name != "" && name != "_" })
	if !named {
		return source, false
	}
	fallback := numbered("result", len(source))
	if len(source) == 2 {
		fallback[0] = "result"
	}
	fallback[len(source)-1] = "err"
	results = parameterNames(source, fallback, fn.block)
	for i, name := range source {
		if (name == "" || name == "_") && !needed {
			results[i] = "_"
		}
		fn.block[results[i]] = true
	}
	return results, true
}

// list prints parameters, neighbours of one type together.
func (m *method) list(names []string, params []model.Parameter, variadic bool) []jen.Code {
	var list []jen.Code
	for i := 0; i < len(params); {
		end := i + 1
		for end < len(params) && slices.Equal(params[end].Type, params[i].Type) && !(variadic && end == len(params)-1) {
			end++
		}
		var group []jen.Code
		for _, name := range names[i:end] {
			group = append(group, jen.Id(name))
		}
		param := jen.List(group...)
		if variadic && i == len(params)-1 {
			param.Op("...")
		}
		list = append(list, param.Add(m.wrapper.code(params[i].Type)))
		i = end
	}
	return list
}

func (m *method) resultList(names []string, named bool) *jen.Statement {
	results := m.src.Results
	switch {
	case named:
		return jen.Params(m.list(names, results, false)...)
	case len(results) == 1:
		return m.wrapper.code(results[0].Type)
	}
	var list []jen.Code
	for _, r := range results {
		list = append(list, m.wrapper.code(r.Type))
	}
	if len(list) == 0 {
		return jen.Null()
	}
	return jen.Params(list...)
}

func sourceNames(params []model.Parameter) []string {
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.Name
	}
	return names
}

// numbered returns prefix1, prefix2, … prefixN.
func numbered(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = prefix + strconv.Itoa(i+1)
	}
	return names
}
