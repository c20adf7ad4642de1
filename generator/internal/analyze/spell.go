package analyze

import (
	"fmt"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/idemgen/idem/generator/internal/model"
)

// A speller writes types as code of the package whose wrapper is made, and
// notes the packages that it mentions. The first thing that cannot be spelled
// there is remembered.
type speller struct {
	pkg      *types.Package
	packages map[string]model.Package
	aliases  map[string]string // names that the source file gives to imports
	problem  string
}

func (s *speller) fail(format string, args ...any) model.Code {
	if s.problem == "" {
		s.problem = fmt.Sprintf(format, args...)
	}
	return nil
}

// fault returns and forgets what could not be spelled.
func (s *speller) fault() string {
	problem := s.problem
	s.problem = ""
	return problem
}

func text(s string) model.Code { return model.Code{{Kind: model.Text, Text: s}} }

func join(codes ...model.Code) model.Code {
	var all model.Code
	for _, c := range codes {
		for _, piece := range c {
			if n := len(all); n > 0 && piece.Kind == model.Text && all[n-1].Kind == model.Text {
				all[n-1].Text += piece.Text
				continue
			}
			all = append(all, piece)
		}
	}
	return all
}

// object spells a package-level or predeclared name.
func (s *speller) object(o types.Object) model.Code {
	if o.Pkg() == nil {
		return model.Code{{Kind: model.Universe, Text: o.Name()}}
	}
	path := o.Pkg().Path()
	if o.Pkg() != s.pkg && path != s.pkg.Path() {
		if !o.Exported() {
			return s.fail("%s.%s is not exported", path, o.Name())
		}
		if !importable(path, s.pkg.Path()) {
			return s.fail("%s is internal to another module", path)
		}
		s.packages[path] = model.Package{Name: o.Pkg().Name(), Alias: s.aliases[path]}
	}
	return model.Code{{Kind: model.Qualified, Text: o.Name(), Package: path}}
}

// importable reports whether a package may import the one at path, by the rule
// for internal packages.
func importable(path, from string) bool {
	i := strings.LastIndex("/"+path+"/", "/internal/")
	if i < 0 {
		return true
	}
	parent := strings.TrimSuffix(path[:max(i-1, 0)], "/")
	return parent == "" || from == parent || strings.HasPrefix(from, parent+"/")
}

func (s *speller) typ(t types.Type) model.Code {
	switch t := t.(type) {
	case *types.Basic:
		if t.Kind() == types.UnsafePointer {
			s.packages["unsafe"] = model.Package{Name: "unsafe", Alias: s.aliases["unsafe"]}
			return model.Code{{Kind: model.Qualified, Text: "Pointer", Package: "unsafe"}}
		}
		return model.Code{{Kind: model.Universe, Text: t.Name()}}
	case *types.Alias:
		// An alias that this package cannot name is written out.
		if o := t.Obj(); o.Pkg() == nil || o.Pkg() == s.pkg || o.Exported() && importable(o.Pkg().Path(), s.pkg.Path()) && o.Parent() == o.Pkg().Scope() {
			return join(s.object(o), s.arguments(t.TypeArgs()))
		}
		return s.typ(types.Unalias(t))
	case *types.Named:
		return join(s.object(t.Obj()), s.arguments(t.TypeArgs()))
	case *types.TypeParam:
		return model.Code{{Kind: model.TypeParam, Text: t.Obj().Name()}}
	case *types.Pointer:
		return join(text("*"), s.typ(t.Elem()))
	case *types.Slice:
		return join(text("[]"), s.typ(t.Elem()))
	case *types.Array:
		return join(text("["+strconv.FormatInt(t.Len(), 10)+"]"), s.typ(t.Elem()))
	case *types.Map:
		return join(text("map["), s.typ(t.Key()), text("]"), s.typ(t.Elem()))
	case *types.Chan:
		return s.channel(t)
	case *types.Signature:
		return join(text("func"), s.signature(t))
	case *types.Struct:
		return s.structure(t)
	case *types.Interface:
		return s.iface(t)
	case *types.Union:
		return s.union(t)
	default:
		return s.fail("the type %s cannot be written", t)
	}
}

func (s *speller) arguments(list *types.TypeList) model.Code {
	if list.Len() == 0 {
		return nil
	}
	code := text("[")
	for i := range list.Len() {
		if i > 0 {
			code = join(code, text(", "))
		}
		code = join(code, s.typ(list.At(i)))
	}
	return join(code, text("]"))
}

func (s *speller) channel(t *types.Chan) model.Code {
	elem := s.typ(t.Elem())
	switch t.Dir() {
	case types.SendOnly:
		return join(text("chan<- "), elem)
	case types.RecvOnly:
		return join(text("<-chan "), elem)
	}
	if c, ok := t.Elem().(*types.Chan); ok && c.Dir() == types.RecvOnly {
		return join(text("chan ("), elem, text(")"))
	}
	return join(text("chan "), elem)
}

// signature spells parameters and results without their names.
func (s *speller) signature(t *types.Signature) model.Code {
	code := text("(")
	for i := range t.Params().Len() {
		if i > 0 {
			code = join(code, text(", "))
		}
		p := t.Params().At(i).Type()
		if t.Variadic() && i == t.Params().Len()-1 {
			code = join(code, text("..."))
			p = p.(*types.Slice).Elem()
		}
		code = join(code, s.typ(p))
	}
	code = join(code, text(")"))
	switch t.Results().Len() {
	case 0:
		return code
	case 1:
		return join(code, text(" "), s.typ(t.Results().At(0).Type()))
	}
	code = join(code, text(" ("))
	for i := range t.Results().Len() {
		if i > 0 {
			code = join(code, text(", "))
		}
		code = join(code, s.typ(t.Results().At(i).Type()))
	}
	return join(code, text(")"))
}

func (s *speller) structure(t *types.Struct) model.Code {
	if t.NumFields() == 0 {
		return text("struct{}")
	}
	code := text("struct{")
	for i := range t.NumFields() {
		if i > 0 {
			code = join(code, text("; "))
		}
		f := t.Field(i)
		if !f.Exported() && f.Pkg() != s.pkg {
			return s.fail("the field %s of a struct literal of %s is not exported", f.Name(), f.Pkg().Path())
		}
		if !f.Embedded() {
			code = join(code, text(f.Name()+" "))
		}
		code = join(code, s.typ(f.Type()))
		if tag := t.Tag(i); tag != "" {
			code = join(code, text(" "+quoteTag(tag)))
		}
	}
	return join(code, text("}"))
}

// quoteTag writes a tag as a raw string if that can hold it.
func quoteTag(tag string) string {
	if strconv.CanBackquote(tag) {
		return "`" + tag + "`"
	}
	return strconv.Quote(tag)
}

func (s *speller) iface(t *types.Interface) model.Code {
	if t.NumExplicitMethods()+t.NumEmbeddeds() == 0 {
		return model.Code{{Kind: model.Universe, Text: "any"}}
	}
	if t.IsImplicit() && t.NumEmbeddeds() == 1 {
		return s.typ(t.EmbeddedType(0))
	}
	code := text("interface{")
	for i := range t.NumExplicitMethods() {
		if i > 0 {
			code = join(code, text("; "))
		}
		m := t.ExplicitMethod(i)
		if !m.Exported() && m.Pkg() != s.pkg {
			return s.fail("the method %s of an interface literal of %s is not exported", m.Name(), m.Pkg().Path())
		}
		code = join(code, text(m.Name()), s.signature(m.Signature()))
	}
	for i := range t.NumEmbeddeds() {
		if i+t.NumExplicitMethods() > 0 {
			code = join(code, text("; "))
		}
		code = join(code, s.typ(t.EmbeddedType(i)))
	}
	return join(code, text("}"))
}

func (s *speller) union(t *types.Union) model.Code {
	var code model.Code
	for i := range t.Len() {
		if i > 0 {
			code = join(code, text(" | "))
		}
		if t.Term(i).Tilde() {
			code = join(code, text("~"))
		}
		code = join(code, s.typ(t.Term(i).Type()))
	}
	return code
}

// exactly spells a type of the universe or of a well-known package, for
// comparing what a plan's type is with what a writer takes.
func exactly(t types.Type, kind types.BasicKind) bool {
	b, ok := types.Unalias(t).(*types.Basic)
	return ok && b.Kind() == kind
}

// isNamed reports whether t is the type name of the package at path.
func isNamed(t types.Type, path, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == path && n.Obj().Name() == name
}

// isExported reports whether a field or method can be named from pkg.
func isExported(name string, declared, pkg *types.Package) bool {
	return token.IsExported(name) || declared == pkg || declared.Path() == pkg.Path()
}
