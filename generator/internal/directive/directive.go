// Package directive finds the //idem: directives of a file, and everything
// that looks like one but does not work where it stands or as it is written.
package directive

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"strings"

	"github.com/idemgen/idem/generator/internal/diag"
)

const tool = "idem"

// A Directive is one //idem: comment.
type Directive struct {
	Name string
	Args string         // without a comment behind them
	Pos  token.Position // of the comment
	Arg  token.Position // of the arguments, or of the comment's end if there are none
}

// A Method is an interface method with directives.
type Method struct {
	Type       *ast.TypeSpec
	Field      *ast.Field
	Name       *ast.Ident
	Directives map[string]Directive // by name
}

// Parse returns the annotated methods of a file in the order of the source.
func Parse(fset *token.FileSet, file *ast.File) ([]Method, []diag.Diagnostic) {
	p := parser{fset: fset, docs: map[*ast.CommentGroup]bool{}}
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE {
			continue
		}
		for _, spec := range gen.Specs {
			if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.Name != "_" {
				p.typeSpec(spec)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if i, ok := n.(*ast.InterfaceType); ok {
			p.interfaces = append(p.interfaces, i)
		}
		return true
	})
	for _, group := range file.Comments {
		if !p.docs[group] {
			p.strays(group)
		}
	}
	return p.methods, p.problems
}

type parser struct {
	fset       *token.FileSet
	methods    []Method
	docs       map[*ast.CommentGroup]bool // in which directives work
	interfaces []*ast.InterfaceType
	problems   []diag.Diagnostic

	// keyed is set once the method at hand was meant to have a key, whatever
	// became of it.
	keyed bool
}

func (p *parser) position(pos token.Pos) token.Position { return p.fset.PositionFor(pos, false) }

func (p *parser) report(pos token.Position, format string, args ...any) {
	p.problems = append(p.problems, diag.At(pos, format, args...))
}

// typeSpec looks at the methods that a package-level interface declares.
func (p *parser) typeSpec(spec *ast.TypeSpec) {
	i, ok := ast.Unparen(spec.Type).(*ast.InterfaceType)
	if !ok {
		return
	}
	for _, field := range i.Methods.List {
		if _, ok := field.Type.(*ast.FuncType); !ok || field.Doc == nil || len(field.Names) != 1 {
			continue
		}
		p.docs[field.Doc], p.keyed = true, false
		m := Method{Type: spec, Field: field, Name: field.Names[0], Directives: map[string]Directive{}}
		for _, comment := range field.Doc.List {
			p.comment(&m, comment)
		}
		if p.complete(&m) {
			p.methods = append(p.methods, m)
		}
	}
}

// comment adds the directive that a line of a method's documentation is.
func (p *parser) comment(m *Method, c *ast.Comment) {
	d, ok := ast.ParseDirective(c.Slash, c.Text)
	if !ok || d.Tool != tool {
		p.nearMiss(c)
		return
	}
	pos := p.position(c.Slash)
	spec, known := specs[d.Name]
	if !known {
		p.unknown(pos, d.Name)
		return
	}
	p.keyed = p.keyed || d.Name == "key"
	if first, twice := m.Directives[d.Name]; twice {
		p.report(pos, "second //idem:%s for %s; the first is in line %d: keep one", d.Name, m.Name.Name, first.Pos.Line)
		return
	}
	directive := Directive{Name: d.Name, Args: d.Args, Pos: pos, Arg: pos}
	if !spec.prose {
		directive.Args = withoutComment(d.Args)
	}
	if directive.Args != "" {
		directive.Arg = p.position(d.ArgsPos)
	}
	if problem := spec.check(directive.Args); problem != "" {
		p.report(pos, "//idem:%s %s: write %s", d.Name, problem, spec.usage)
		return
	}
	m.Directives[d.Name] = directive
}

// withoutComment cuts a trailing comment off, which is none inside a literal.
func withoutComment(args string) string {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(args))
	var s scanner.Scanner
	s.Init(file, []byte(args), func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return strings.TrimRight(args, " \t\r")
		case tok == token.COMMENT && strings.HasPrefix(lit, "//"):
			return strings.TrimRight(args[:file.Offset(pos)], " \t\r")
		}
	}
}

// complete reports whether the method has a key, without which the other
// directives mean nothing.
func (p *parser) complete(m *Method) bool {
	if _, ok := m.Directives["key"]; ok || p.keyed {
		return ok
	}
	for name, d := range m.Directives {
		p.report(d.Pos, "//idem:%s needs an //idem:key on %s: it is the key that makes a method idempotent", name, m.Name.Name)
	}
	return false
}

// strays reports directives in a comment where none works.
func (p *parser) strays(group *ast.CommentGroup) {
	for _, c := range group.List {
		d, ok := ast.ParseDirective(c.Slash, c.Text)
		switch {
		case ok && d.Tool == tool:
			p.report(p.position(c.Slash), "//idem:%s is not in the doc comment of a method of a package-level interface type: "+
				"put it there, directly above the method, without a blank line between", d.Name)
		case p.insideInterface(c):
			p.nearMiss(c)
		}
	}
}

func (p *parser) insideInterface(c *ast.Comment) bool {
	for _, i := range p.interfaces {
		if i.Pos() <= c.Pos() && c.Pos() < i.End() {
			return true
		}
	}
	return false
}
