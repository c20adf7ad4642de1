package directive

import (
	"fmt"
	"strings"
	"testing"
)

const (
	looksLike = "this comment looks like a directive but is none: write //idem:"
	inComment = ", in a line comment, in lower case and without spaces before the name"
)

func TestUnknown(t *testing.T) {
	const known = "; known are codec, final, "
	tests := []struct{ comment, want string }{
		{"//idem:kye id", "//idem:kye; did you mean //idem:key, followed by a space and its arguments?"},
		{"//idem:keys id", "//idem:keys; did you mean //idem:key, "},
		{"//idem:key(id)", "//idem:key(id); did you mean //idem:key, "},
		{"//idem:key=id", "//idem:key=id; did you mean //idem:key, "},
		{"//idem:key:id", "//idem:key:id; did you mean //idem:key, "},
		{"//idem:key,id", "//idem:key,id; did you mean //idem:key, "},
		{"//idem:ttl=48h", "//idem:ttl=48h; did you mean //idem:ttl, "},
		{"//idem:optionl", "//idem:optionl; did you mean //idem:optional?"},
		{"//idem:txn", "//idem:txn; did you mean //idem:tx?"},
		{"//idem:txn()", "//idem:txn(); did you mean //idem:tx?"},
		{"//idem:timeout 48h", "//idem:timeout" + known},
		{"//idem:transaction", "//idem:transaction" + known + "fingerprint, key, lease, lossy, name, optional, pending, recover, ttl, tx"},
		{"//idem:x", "//idem:x" + known},
		{"//idem:=", "//idem:=" + known},
		{"//idem:", "//idem:" + known},
		{"//idem:Kye id", "//idem:Kye; did you mean //idem:key, "},
		{"//IDEM:KYE id", "//idem:KYE; did you mean //idem:key, "},
		{"//idem:_key id", "//idem:_key; did you mean //idem:key, "},
		{"//idem:1 id", "//idem:1" + known},
	}
	for _, tt := range tests {
		t.Run(tt.comment, func(t *testing.T) {
			_, problems := parse(t, inMethod("// Do does.", tt.comment))
			expect(t, problems, "5:2: unknown directive "+tt.want)
		})
	}
}

func TestNearMiss(t *testing.T) {
	tests := []struct{ comment, place, name string }{
		{"// idem:key id", "5:2", "key"},
		{"//  idem:ttl 48h", "5:2", "ttl"},
		{"//\tidem:key id", "5:2", "key"},
		{"//\u00a0idem:key id", "5:2", "key"},
		{"//\u200bidem:key id", "5:2", "key"},
		{"//idem: key id", "5:2", "key"},
		{"//idem:\u200bkey id", "5:2", "key"},
		{"//idem :key id", "5:2", "key"},
		{"// idem : key id", "5:2", "key"},
		{"//idem:Key id", "5:2", "key"},
		{"//Idem:key id", "5:2", "key"},
		{"// IDEM:FINGERPRINT none", "5:2", "fingerprint"},
		{"// idem:fingerprnt none", "5:2", "fingerprint"},
		{"///idem:key id", "5:2", "key"},
		{"//+idem:key id", "5:2", "key"},
		{"// +idem:key id", "5:2", "key"},
		{"// @idem:key id", "5:2", "key"},
		{"//idem key id", "5:2", "key"},
		{"//idem.key id", "5:2", "key"},
		{"//idem-optional", "5:2", "optional"},
		{"// idem:tx", "5:2", "tx"},
		{"//idem:Tx", "5:2", "tx"},
		{"/*idem:key id*/", "5:2", "key"},
		{"/* idem:key id */", "5:2", "key"},
		{"/* Do does.\n\t   idem:key id */", "6:5", "key"},
		{"/*\n\t * Do does.\n\t *\n\t * idem:ttl 48h\n\t */", "8:5", "ttl"},
		{"/*\nidem:names are kept\n\n\tidem:lossy no order */", "6:1", "name"},
	}
	for _, tt := range tests {
		for _, where := range []string{"documentation", "elsewhere"} {
			t.Run(where+" "+tt.comment, func(t *testing.T) {
				lines := []string{"// Do does.", tt.comment}
				if where == "elsewhere" {
					lines = append(lines, "", "// Do does.")
				}
				methods, problems := parse(t, inMethod(lines...))
				expect(t, problems, tt.place+": "+looksLike+tt.name+inComment)
				if len(methods) != 0 {
					t.Errorf("the methods are %+v", methods)
				}
			})
		}
	}
}

// What nobody would take for a directive is none of this package's business.
func TestProse(t *testing.T) {
	for _, comment := range []string{
		"// idem: the same",
		"// idem: keys are kept",
		"// idem: names, as above",
		"// Idem: finally, the others",
		"// idem:potent calls",
		"//idem: potent calls",
		"// idem:",
		"// idem key is the one above",
		"//idemp:key id",
		"//idempotent:key id",
		"//xidem:key id",
		"//go:generate idem:key",
		"//go:idem:key id",
		"// See //idem:key for more.",
		"// //idem:key id",
		"//idem keys are kept",
		"//idem.New opens a store",
		"/* Do is what idem:key speaks of. */",
		"/*\n\tTo write:\n\n\t\t//idem:key id\n\t*/",
	} {
		t.Run(comment, func(t *testing.T) {
			methods, problems := parse(t, inMethod("//idem:key id", comment))
			expect(t, problems)
			if len(methods) != 1 || len(methods[0].Directives) != 1 {
				t.Errorf("the methods are %+v", methods)
			}
		})
	}
}

func TestMentions(t *testing.T) {
	for source, want := range map[string]bool{
		"":                                 false,
		"//idem:key id":                    true,
		"package p // IDEM : key":          true,
		"/*\r\n * idem:key id\r\n */":      true,
		"//idem key id":                    true,
		"// idempotent: yes":               false,
		"import idem \"idem.io/runtime\"":  false,
		"\tidem.New()":                     false,
		"id := idem.New()\n\nfunc (i *ide": false,
		"x\n//\u00a0idem:key id":           true,
	} {
		if got := Mentions([]byte(source)); got != want {
			t.Errorf("Mentions(%q) = %v", source, got)
		}
	}
}

func TestMisplaced(t *testing.T) {
	source := `//idem:key a

// Package p is a package.
//
//idem:key b
package p //idem:key c

import "fmt" //idem:key d

// P is an interface.
//
//idem:key e
type P interface {
	//idem:key f

	// Do does.
	Do(id string) error //idem:key g

	//idem:key h
	fmt.Stringer

	// Nested takes an interface.
	Nested(interface {
		//idem:key i
		Do(id string) error
	}) error

	Last(
		//idem:key j
		id string) error
	//idem:key k
}

type _ interface {
	//idem:key l
	Do(id string) error
}

// S is a struct.
type S struct {
	//idem:key m
	F func(id string) error
}

// Union is a constraint.
type Union interface {
	//idem:key n
	~int | ~string
}

// Do does.
//
//idem:key o
func (S) Do(id string) error {
	//idem:key p
	type Local interface {
		//idem:key q
		Do(id string) error
	}
	return nil
}

// Anonymous has no name.
var Anonymous interface {
	//idem:key r
	Do(id string) error
}

// Text is not a comment.
const Text = "" + ` + "`\n//idem:key id\n`" + `

// idem:key and other near misses are prose here.
type T []interface {
	//idem:kye s
	Do(id string) error
}

//idem:key t
`
	methods, problems := parse(t, source)
	var want []string
	for i, line := range strings.Split(source, "\n") {
		before, name, ok := strings.Cut(line, "//idem:")
		if ok && name != "key id" {
			name, _, _ = strings.Cut(name, " ")
			want = append(want, place(i+1, len(before)+1)+": //idem:"+name+" is not in the doc comment of a method of a package-level interface type: "+
				"put it there, directly above the method, without a blank line between")
		}
	}
	if len(want) != 20 {
		t.Fatalf("the source has %d directives", len(want))
	}
	expect(t, problems, want...)
	if len(methods) != 0 {
		t.Errorf("the methods are %+v", methods)
	}
}

func place(line, column int) string { return fmt.Sprintf("%d:%d", line, column) }
