package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/idemgen/idem/generator/internal/model"
)

// A scope prints what belongs to outer scopes: a wrapper does it where nothing
// can hide them, a function where its own names must not.
type scope interface {
	code(model.Code) *jen.Statement
	instance(name string) *jen.Statement
	qualified(path, name string) *jen.Statement
	universe(name string) *jen.Statement
}

func (w *wrapper) code(c model.Code) *jen.Statement { return w.pieces(c, nil) }

func (w *wrapper) qualified(path, name string) *jen.Statement { return w.file.qualified(path, name) }

func (w *wrapper) universe(name string) *jen.Statement { return jen.Id(name) }

// pieces prints code in which the parameters have the given names.
func (w *wrapper) pieces(c model.Code, params []string) *jen.Statement {
	s := &jen.Statement{}
	for _, piece := range c {
		switch piece.Kind {
		case model.Text, model.Universe:
			s.Id(piece.Text)
		case model.Qualified:
			s.Add(w.qualified(piece.Package, piece.Text))
		case model.TypeParam:
			i := slices.IndexFunc(w.src.TypeParams, func(p model.TypeParameter) bool { return p.Name == piece.Text })
			s.Id(w.typeParams[i])
		case model.Param:
			s.Id(params[piece.Param])
		}
	}
	return s
}

// generic reports whether c mentions a type parameter.
func generic(c model.Code) bool {
	return slices.ContainsFunc(c, func(p model.Piece) bool { return p.Kind == model.TypeParam })
}

// typeName is the name of the type that c denotes, "" if it is a literal.
func typeName(c model.Code) string {
	if len(c) > 0 && c[0].Kind == model.Qualified {
		return c[0].Text
	}
	return ""
}
