// Package model is what the generator's check hands to its emitter: plain
// data, with every rejection made and no name chosen. It knows nothing of
// go/types, syntax trees or the library that prints.
package model

import "time"

// A File is one output: everything that goes into x_idem.go beside x.go.
type File struct {
	Path        string // of the output, absolute
	Package     string // name in the package clause
	PackagePath string // import path, which qualifies the package's own names
	Constraint  string // build constraint of the source ("linux && !cgo"), or ""

	// Taken holds every name of the package scope and of the universe that a
	// local name of the output must not hide where it is used, and that a
	// new package-level name must not repeat.
	Taken []string

	// Packages maps each import path that a Piece names to the package's real
	// name and the name that the source file gives it (the preferred one).
	Packages map[string]Package

	Interfaces []Interface
}

// A Package is an imported package.
type Package struct {
	Name  string // in its package clause
	Alias string // that the source file uses, "" if none
}

// Code is Go source in which the names that depend on the output's imports
// and parameters are still open.
type Code []Piece

// A Piece is a bit of Code.
type Piece struct {
	Kind    PieceKind
	Text    string // source text, or the name
	Package string // import path, for Qualified
	Param   int    // index into Method.Params, for Param
}

// PieceKind says how a Piece is printed.
type PieceKind uint8

// The kinds of pieces.
const (
	Text      PieceKind = iota // Text as it stands: operators, literals, field and method names
	Qualified                  // Text is a package-level name of Package
	Universe                   // Text is a predeclared name, which no local may hide here
	TypeParam                  // Text is a type parameter of the interface
	Param                      // the parameter, by whatever name the wrapper gives it
)

// An Interface gets a wrapper.
type Interface struct {
	Name        string
	Wrapper     string   // IdempotentPayments
	Constructor string   // NewIdempotentPayments
	Position    Position // of its name in the source
	TypeParams  []TypeParameter
	Methods     []Method // in the order of the source, embedded ones after
}

// A Position is a place in a source file. Column counts bytes from 1.
type Position struct {
	File         string // absolute
	Line, Column int
}

// A TypeParameter of a generic interface.
type TypeParameter struct {
	Name       string
	Constraint Code
}

// A Method of the wrapper. Keyed is nil where it passes through.
type Method struct {
	Name     string
	Params   []Parameter
	Results  []Parameter
	Variadic bool // the last parameter's Type is then the element's, to print after "..."
	Keyed    *Keyed
}

// A Parameter is a parameter or a result. Name is as in the source: it may be
// empty or blank.
type Parameter struct {
	Name string
	Type Code
}

// Keyed is what the directives of a method say.
type Keyed struct {
	Operation string   // stable name, without type arguments
	Position  Position // of the annotated method's name in the source
	Context   int      // index of the parameter that is the context, -1 if none

	Parts       []Part
	Fingerprint []Argument
	Optional    bool
	Tx          bool // runs in one transaction with its claim and its record

	TTL     time.Duration // 0: the store's
	Lease   time.Duration // 0: the store's
	Pending Pending
	Recover Recover
	Ask     *Question // nil: run again without asking

	Final []Final
	Codec Codec
	Shape Shape
	Loses []string // what a replay does not bring back, as accepted by the source

	// Copy is the plan of a deep copy for each stored result (all but the
	// error), nil if the results are copied by decoding.
	Copy []Plan
}

// A Part is one key part.
type Part struct {
	Source string // as written in the directive
	Expr   Code
	Error  bool // the expression has the values (T, error)
	Plan   Plan
}

// An Argument is what one member of the fingerprint covers.
type Argument struct {
	Name string // as error messages name it: the parameter, or the expression's source
	Expr Code
	Plan Plan
}

// Pending is what a caller does while another process holds the claim.
type Pending struct {
	Reject bool
	Wait   time.Duration // 0: as long as the context lasts
}

// Recover is what happens to a lapsed claim.
type Recover uint8

// The recover policies.
const (
	Rerun Recover = iota
	Refuse
)

// A Question finds out whether an interrupted execution had its effect. It has
// the method's parameters, and returns the method's results before its error,
// whether the effect was found, and an error.
type Question struct {
	Method   string // of the wrapped value, or
	Function Code   // a function
}

// A Final is an error that is an outcome.
type Final struct {
	Name string // that is recorded
	Type bool   // Expr is a type, and not a value
	Expr Code
}

// Codec is how results are recorded.
type Codec struct {
	Kind CodecKind
	Expr Code // of Custom
}

// CodecKind is a kind of Codec.
type CodecKind uint8

// The kinds of codecs.
const (
	JSON   CodecKind = iota // encoding/json
	Proto                   // the encoding of protobuf messages
	Custom                  // the value of Expr
)

// A Plan says how a value of a type is written into a key or a fingerprint, or
// copied. It is a tree over the type; a recursive type refers back by Ref.
type Plan struct {
	Kind PlanKind
	Type Code // of the value

	// Exact says that Type is exactly the type that the writer takes (string
	// and not a named string type), so that no conversion is needed.
	Exact bool

	// Zero says that the value can be compared with its zero value by ==.
	Zero bool

	// NoCopy says that a copy of the value would copy a lock (what go vet
	// calls copylocks), so that it is passed on by its address.
	NoCopy bool

	Elem   *Plan       // Pointer, Slice, Array, Map; Bytes and Identifier if their bytes have a type of their own
	Key    *Plan       // Map
	Fields []FieldPlan // Struct
	Len    int64       // Array

	// ID numbers a plan to which a Ref leads, so that it is printed as a
	// function of its own; 0 if none does. Ref is that number, for Kind Ref.
	ID  int
	Ref int
}

// A FieldPlan is a field of a struct.
type FieldPlan struct {
	Name string
	Plan Plan
}

// PlanKind is the shape of a Plan.
type PlanKind uint8

// The kinds of plans. Those from Bool to Text are leaves.
const (
	Bool PlanKind = iota + 1
	Int           // every signed integer type
	Uint          // every unsigned integer type
	Float32
	Float64
	Complex64
	Complex128
	String
	Bytes      // a slice of bytes
	Identifier // an array of bytes
	Time
	AppendText  // the value has AppendText
	MarshalText // the value has MarshalText alone
	TextAddress // the methods are on the pointer: take the address of a local
	Reflect     // a type parameter: the runtime looks at the dynamic type

	Pointer
	Slice
	Array
	Struct
	Map
	Ref

	Assign // copies only: the value holds no reference, = is a deep copy; basic types are leaves
)
