package emit

import (
	"regexp"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/idemgen/idem/generator/internal/model"
)

// A builder is a variable that collects a key or a fingerprint.
type builder struct {
	name    string
	key     bool // a KeyBuilder
	pointer bool // the variable is a pointer already
}

func (b builder) method(name string, args ...jen.Code) *jen.Statement {
	return jen.Id(b.name).Dot(name).Call(args...)
}

func (b builder) address() *jen.Statement {
	if b.pointer {
		return jen.Id(b.name)
	}
	return jen.Op("&").Id(b.name)
}

// A value is an expression whose value is to be written.
type value struct {
	code *jen.Statement
	// name is what a variable that holds the value is best called.
	name string
	// pointer: the value is what code points to.
	pointer bool
	// simple: evaluating the expression again costs nothing and changes nothing.
	simple bool
	// addressable: taking the value's address costs nothing. It does where it
	// moves a parameter to the heap, because the executor keeps it.
	addressable bool
}

func (v value) print() *jen.Statement {
	if v.pointer {
		return jen.Op("*").Add(v.code)
	}
	return v.code
}

// member is a field of the value.
func (v value) member(name string) value {
	return value{code: jen.Add(v.code).Dot(name), name: unexported(name), simple: v.simple, addressable: v.addressable || v.pointer}
}

// variable is the value of a variable of this function's own.
func variable(name string) value {
	return value{code: jen.Id(name), name: name, simple: true, addressable: true}
}

var selectors = regexp.MustCompile(`^(\.[\pL_][\pL_\p{Nd}]*)*$`)

// expression is the value of code of the model. wanted is what a variable that
// holds it is called if the code does not tell.
func expression(fn *function, c model.Code, wanted string) value {
	v := value{code: fn.code(c), name: wanted}
	if len(c) == 0 || c[0].Kind != model.Param {
		return v
	}
	var path strings.Builder
	for _, piece := range c[1:] {
		if piece.Kind != model.Text {
			return v
		}
		path.WriteString(piece.Text)
	}
	if selectors.MatchString(path.String()) {
		v.simple = true
		if i := strings.LastIndex(path.String(), "."); i >= 0 {
			v.name = unexported(path.String()[i+1:])
		}
	}
	return v
}
