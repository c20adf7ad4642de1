package analyze

import (
	"errors"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"math"
	"slices"
	"strings"

	"github.com/idemgen/idem/generator/internal/directive"
	"github.com/idemgen/idem/generator/internal/model"
)

// expressions checks the expressions in the directives of one method.
type expressions struct {
	*checker
	member *member
	vars   []*types.Var // the parameters, as the expressions see them

	// ambiguous are names that files without the expression give to different
	// imports.
	ambiguous map[string]bool
}

func (c *checker) expressions(m *member) *expressions {
	x := &expressions{checker: c, member: m, ambiguous: map[string]bool{}}
	// The annotation was written for the method where it is declared, whose
	// parameter names it uses; the types are those of the interface at hand.
	var names []string
	for _, group := range m.Field.Type.(*ast.FuncType).Params.List {
		for _, name := range group.Names {
			names = append(names, name.Name)
		}
		if len(group.Names) == 0 {
			names = append(names, "")
		}
	}
	params := m.fn.Signature().Params()
	for i := range params.Len() {
		name := ""
		if i < len(names) {
			name = names[i]
		}
		x.vars = append(x.vars, types.NewParam(token.NoPos, c.Types, name, params.At(i).Type()))
	}
	return x
}

// An expression of a directive, with its type.
type expression struct {
	source string
	node   ast.Expr
	typ    types.Type
	value  constant.Value
	info   *types.Info
	list   *list
}

// list is the text of a directive's arguments, parsed.
type list struct {
	file  *token.File
	text  string
	start token.Position // of the arguments, in the comment
	over  string         // what the expressions are over
}

const prefix = "_("

// position maps a place in the parsed text to the comment.
func (l *list) position(pos token.Pos) token.Position {
	offset := 0
	if pos.IsValid() {
		offset = min(max(l.file.Offset(pos)-len(prefix), 0), len(l.text))
	}
	p := l.start
	p.Column += offset
	p.Offset += offset
	return p
}

// parse reads the arguments of a directive as a list of expressions. It
// reports what is no list of expressions, and then returns nothing.
func (x *expressions) parse(d directive.Directive) []*expression {
	source := d.Args
	call, err := parser.ParseExprFrom(x.Fset, "", prefix+source+")", parser.SkipObjectResolution)
	l := &list{text: source, start: d.Arg}
	if d.Name == "key" || d.Name == "fingerprint" {
		l.over = " over the parameters"
	}
	if list, ok := errors.AsType[scanner.ErrorList](err); ok {
		p := l.start
		offset := min(max(list[0].Pos.Offset-len(prefix), 0), len(source))
		p.Column += offset
		x.report(p, "%s: write Go expressions%s, separated by commas", list[0].Msg, l.over)
		return nil
	}
	c, ok := call.(*ast.CallExpr)
	if ok {
		l.file = x.Fset.File(c.Pos())
	}
	if err != nil || !ok || l.file.Offset(c.Rparen) != len(prefix)+len(source) {
		x.report(l.start, "this is no list of expressions: write Go expressions%s, separated by commas", l.over)
		return nil
	}
	if len(c.Args) == 0 {
		x.report(l.start, "there is only a comment here: write Go expressions%s, separated by commas", l.over)
		return nil
	}
	if c.Ellipsis.IsValid() {
		x.report(l.position(c.Ellipsis), "... is not allowed here: a slice is written as it is")
		return nil
	}
	var out []*expression
	for _, arg := range c.Args {
		text := source[l.file.Offset(arg.Pos())-len(prefix) : l.file.Offset(arg.End())-len(prefix)]
		out = append(out, &expression{source: text, node: arg, list: l})
	}
	return out
}

// check type-checks e and reports whether it is one value.
func (x *expressions) check(e *expression) bool { return x.resolve(e) && x.isValue(e) }

// resolve type-checks e, which may be a type as well.
func (x *expressions) resolve(e *expression) bool {
	if n, what := forbidden(e.node); n != nil {
		x.report(e.list.position(n.Pos()), "%s is not allowed in a key: it has another value each time; name the value that it stands for", what)
		return false
	}
	scope := types.NewScope(x.Types.Scope(), token.Pos(e.list.file.Base()), token.Pos(e.list.file.Base()+e.list.file.Size()+1), "directive")
	x.fill(scope)
	e.info = &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Uses:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
		Instances:  map[*ast.Ident]types.Instance{},
	}
	if err := types.CheckExpr(x.Fset, x.Types, e.node.Pos(), e.node, e.info); err != nil {
		pos, msg := e.node.Pos(), err.Error()
		if typeErr, ok := errors.AsType[types.Error](err); ok {
			pos, msg = typeErr.Pos, typeErr.Msg
		}
		x.report(e.list.position(pos), "%s%s", oneLine(msg), x.hint(e.list, msg))
		return false
	}
	return true
}

// isValue completes e by its type, if it is one value.
func (x *expressions) isValue(e *expression) bool {
	tv := e.info.Types[e.node]
	bad := func(format string, args ...any) bool {
		x.report(e.list.position(e.node.Pos()), format, append([]any{e.source}, args...)...)
		return false
	}
	switch {
	case tv.IsType():
		return bad("%s is a type, not a value: name a parameter, or a field or method of one")
	case tv.IsVoid():
		return bad("%s has no value: call something that returns one")
	case tv.IsBuiltin():
		return bad("%s is not called: write its arguments")
	case tv.IsNil():
		return bad("%s has no type: name a parameter, or a field or method of one")
	case tv.Type == nil || tv.Type == types.Typ[types.Invalid]:
		return bad("%s has no type that is known")
	}
	if sig, ok := tv.Type.(*types.Signature); ok && sig.TypeParams().Len() > 0 {
		return bad("%s is a generic function: call it")
	}
	e.typ, e.value = tv.Type, tv.Value
	if b, ok := e.typ.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		e.typ = types.Default(e.typ)
		if e.value != nil && !representable(e.value, e.typ.(*types.Basic)) {
			return bad("%s overflows %s: convert it to a type that holds it", e.typ)
		}
	}
	return true
}

func representable(v constant.Value, t *types.Basic) bool {
	switch t.Kind() {
	case types.Int, types.Int32:
		n, exact := constant.Int64Val(constant.ToInt(v))
		return exact && (t.Kind() == types.Int || int64(int32(n)) == n)
	case types.Float64, types.Complex128:
		re, _ := constant.Float64Val(constant.Real(v))
		im, _ := constant.Float64Val(constant.Imag(v))
		return !math.IsInf(re, 0) && !math.IsInf(im, 0)
	default:
		return true
	}
}

// forbidden finds an expression that go/types accepts but a key cannot have.
func forbidden(root ast.Expr) (found ast.Node, what string) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			found, what = n, "a function literal"
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				found, what = n, "a receive from a channel"
			}
		}
		return found == nil
	})
	return found, what
}

// hint says what to write instead of what the type checker found wrong.
func (x *expressions) hint(l *list, msg string) string {
	name, undefined := strings.CutPrefix(msg, "undefined: ")
	switch {
	case undefined && x.ambiguous[name]:
		return ": other files of the package give that name to different imports; import the one that is meant in this file"
	case undefined && l.over != "" && !strings.Contains(name, "."):
		return " (" + x.parameterList() + ")"
	case strings.HasPrefix(msg, "cannot use _ "):
		return ": give the parameter a name"
	default:
		return ""
	}
}

func (x *expressions) parameterList() string {
	var names []string
	for _, v := range x.vars {
		if v.Name() == "" {
			names = append(names, "(unnamed)")
			continue
		}
		names = append(names, v.Name())
	}
	if len(names) == 0 {
		return "there are no parameters"
	}
	return "the parameters are " + strings.Join(names, ", ")
}

// oneLine joins the lines of a message of the type checker.
func oneLine(msg string) string {
	first, rest, more := strings.Cut(msg, "\n")
	if !more {
		return msg
	}
	var lines []string
	for line := range strings.SplitSeq(rest, "\n") {
		lines = append(lines, strings.TrimSpace(line))
	}
	return first + ": " + strings.Join(lines, ", ")
}

// uses returns the indexes of the parameters that e mentions.
func (x *expressions) uses(e *expression) []int {
	var used []int
	for i, v := range x.vars {
		for _, o := range e.info.Uses {
			if o == v {
				used = append(used, i)
				break
			}
		}
	}
	return used
}

// code rewrites an expression for another file: every name that belongs to a
// package, to the universe or to the parameters becomes a piece of its own.
func (x *expressions) code(e *expression) model.Code {
	var out model.Code
	from := e.node.Pos()
	text := func(to token.Pos) {
		if from < to {
			out = join(out, model.Code{{Kind: model.Text, Text: e.list.text[e.list.file.Offset(from)-len(prefix) : e.list.file.Offset(to)-len(prefix)]}})
		}
	}
	replace := func(n ast.Node, code model.Code) {
		text(n.Pos())
		out = append(out, code...)
		from = n.End()
	}
	ast.Inspect(e.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok {
				if _, ok := e.info.Uses[id].(*types.PkgName); ok {
					replace(n, x.member.speller.object(e.info.Uses[n.Sel]))
					return false
				}
			}
		case *ast.Ident:
			if code := x.name(e.info.Uses[n]); code != nil {
				replace(n, code)
			}
		}
		return true
	})
	text(e.node.End())
	return out
}

// name is the code for a use of an object, nil if its name stays as it is.
func (x *expressions) name(o types.Object) model.Code {
	switch o := o.(type) {
	case nil:
		return nil
	case *types.Var:
		if i := slices.Index(x.vars, o); i >= 0 {
			return model.Code{{Kind: model.Param, Param: i}}
		}
	case *types.TypeName:
		if _, ok := o.Type().(*types.TypeParam); ok {
			return model.Code{{Kind: model.TypeParam, Text: o.Name()}}
		}
	}
	if o.Pkg() == nil || o.Parent() == o.Pkg().Scope() {
		return x.member.speller.object(o)
	}
	return nil // a field or a method
}
