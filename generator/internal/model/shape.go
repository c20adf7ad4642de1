package model

// A Shape is what a recorded outcome looks like in storage: which values stand
// under which names. Names of Go types mean nothing there, so two shapes that
// differ in these alone are one.
//
// A type is written as an expression without spaces:
//
//	bool int8 uint float64 string …  a basic type
//	quoted(int)                      one that a tag records as a string
//	bytes time                       []byte and time.Time
//	json(path.Type) text(path.Type)  a type that encodes itself
//	param(1)                         the first type parameter
//	*T []T [3]T map[K]T              made of others
//	^1                               the type with a name of its own around it, ^2 the one around that
//	{Receipt}                        a struct, of which Objects has the members
//	unknown                          one that was missing when it was looked at
type Shape struct {
	Results []string // the type of each result before the error
	Finals  []string // the type of each final error, "" for one that is a value
	Objects []Object // the structs that all of these lead to
}

// Unknown is the type of what could not be resolved. Nothing drifts from it.
const Unknown = "unknown"

// An Object is a struct as it is recorded.
type Object struct {
	Name    string // unique in the shape
	Members []Member
}

// A Member is a field of an Object.
type Member struct {
	Name string // in storage
	Type string
}
