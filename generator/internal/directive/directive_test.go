package directive

import (
	"fmt"
	goparser "go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/idemgen/idem/generator/internal/diag"
)

// parse returns the annotated methods of a source and what is wrong with it,
// one line each.
func parse(t *testing.T, source string) (methods []Method, problems []string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := goparser.ParseFile(fset, "p.go", source, goparser.ParseComments|goparser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	methods, list := Parse(fset, file)
	for _, d := range diag.Sort(list) {
		if d.Position.Filename != "p.go" {
			t.Errorf("the problem is in the file %q", d.Position.Filename)
		}
		problems = append(problems, fmt.Sprintf("%d:%d: %s", d.Position.Line, d.Position.Column, d.Message))
	}
	if (len(methods) > 0 || len(problems) > 0) && !Mentions([]byte(source)) {
		t.Error("the source was said to mention nothing")
	}
	return methods, problems
}

// inMethod is a source with lines in the documentation of a method. The first
// is line 4, and each starts in column 2.
func inMethod(lines ...string) string {
	return "package p\n\ntype P interface {\n\t" + strings.Join(lines, "\n\t") + "\n\tDo(id string) error\n}\n"
}

// expect compares problems with beginnings of what they should be.
func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(want):
			t.Errorf("unexpected: %s", got[i])
		case i >= len(got):
			t.Errorf("missing: %s", want[i])
		case !strings.HasPrefix(got[i], want[i]):
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
}

func TestParseMethod(t *testing.T) {
	source := `// Package p is a package.
package p

type (
	P[T any] (interface {
		// Do does.
		//
		//idem:key  id, "a // b"
		// More words.
		//idem:ttl	48h
		//idem:optional // for now
		Undo(id string) error

		// A detached comment.

		Plain(id string) error

		//idem:key ä, id
		Do(ä T, id string) error

		fmt.Stringer
	})

	Q = interface {
		//idem:key n + "//" // as above
		//idem:lossy see https://example.com // and more
		do(n int) (m int, err error)
	}
)
`
	methods, problems := parse(t, source)
	expect(t, problems)
	var got []string
	for _, m := range methods {
		line := m.Type.Name.Name + "." + m.Name.Name
		if m.Field.Names[0] != m.Name {
			t.Errorf("%s: the field is that of %s", line, m.Field.Names[0].Name)
		}
		for _, name := range slices.Sorted(maps.Keys(m.Directives)) {
			d := m.Directives[name]
			line += fmt.Sprintf(" | %s %q %d:%d %d:%d", d.Name, d.Args, d.Pos.Line, d.Pos.Column, d.Arg.Line, d.Arg.Column)
		}
		got = append(got, line)
	}
	want := []string{
		`P.Undo | key "id, \"a // b\"" 8:3 8:15 | optional "" 11:3 11:3 | ttl "48h" 10:3 10:14`,
		`P.Do | key "ä, id" 18:3 18:14`,
		`Q.do | key "n + \"//\"" 25:3 25:14 | lossy "see https://example.com // and more" 26:3 26:16`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Editors on Windows end lines in two characters, which shift no column and
// belong to no argument.
func TestParseCRLF(t *testing.T) {
	source := inMethod("// Do does.", "//idem:key id ", "//idem:ttl soon", "/*", "idem:lease 30s */")
	methods, problems := parse(t, strings.ReplaceAll(source, "\n", "\r\n"))
	expect(t, problems,
		`6:2: //idem:ttl has the argument "soon"`,
		"8:2: this comment looks like a directive")
	if len(methods) != 1 || methods[0].Directives["key"].Args != "id" {
		t.Errorf("the methods are %+v", methods)
	}
}

// What a directive says about lines is not what a //line comment says.
func TestParseKeepsRealPositions(t *testing.T) {
	methods, problems := parse(t, "//line x.y:100:7\n"+inMethod("//idem:key id", "//idem:ttl soon"))
	expect(t, problems, "6:2: //idem:ttl has")
	if p := methods[0].Directives["key"].Arg; p.String() != "p.go:5:13" {
		t.Errorf("the argument is at %s", p)
	}
}

func TestArguments(t *testing.T) {
	tests := []struct {
		directive string
		problem   string // how it starts, after //idem:name
	}{
		{"key id", ""},
		{"key", "needs an argument: write //idem:key EXPRESSION, EXPRESSION over the parameters"},
		{"ttl 48h", ""},
		{"ttl 1.5ms", ""},
		{"ttl forever", ""},
		{"ttl", "needs a duration: write //idem:ttl 48h, or //idem:ttl forever"},
		{"ttl 48", `has the argument "48", which is no duration such as 90s, 15m or 168h: write`},
		{"ttl 2d", `has the argument "2d", which is no duration`},
		{"ttl Forever", `has the argument "Forever", which is no duration`},
		{"ttl 0s", `has the argument "0s", which is not above zero`},
		{"ttl -1h", `has the argument "-1h", which is not above zero`},
		{"ttl 1h 2h", `has the argument "1h 2h", which is no duration`},
		{"ttl 48h // two days", ""},
		{"key // id", "needs an argument: write //idem:key EXPRESSION"},
		{"lease 30s", ""},
		{"lease 1ms", ""},
		{"lease 999us", `has the argument "999us", less than a millisecond: write //idem:lease 30s`},
		{"lease", "needs a duration"},
		{"lease forever", `has the argument "forever", which is no duration`},
		{"pending wait", ""},
		{"pending wait=10s", ""},
		{"pending reject", ""},
		{"pending", `has the argument "": write //idem:pending wait, //idem:pending wait=10s or //idem:pending reject`},
		{"pending wait=", "needs a duration"},
		{"pending wait=0s", `has the argument "0s", which is not above zero`},
		{"pending wait 10s", `has the argument "wait 10s"`},
		{"pending reject=1s", `has the argument "reject=1s"`},
		{"recover rerun", ""},
		{"recover refuse", ""},
		{"recover ask Found", ""},
		{"recover ask\tpkg.Found", ""},
		{"recover", `has the argument "": write //idem:recover rerun, //idem:recover refuse, or //idem:recover ask and a function`},
		{"recover ask", `has the argument "ask"`},
		{"recover asking Found", `has the argument "asking Found"`},
		{"recover rerun refuse", `has the argument "rerun refuse"`},
		{"fingerprint all", ""},
		{"fingerprint none", ""},
		{"fingerprint id, n", ""},
		{"fingerprint", "needs an argument: write //idem:fingerprint all, //idem:fingerprint none, or expressions"},
		{"final ErrGone, *GoneError", ""},
		{"final", "needs an argument: write //idem:final followed by error values or error types"},
		{"codec json", ""},
		{"codec", "needs an argument: write //idem:codec json, //idem:codec proto, or a value"},
		{"name payments.Charge-v2_b", ""},
		{"name", `has the argument "": write //idem:name followed by one word of letters`},
		{"name two words", `has the argument "two words"`},
		{"name example.com/p.Größe.Do", ""},
		{"name a//b", ""},
		{"name a // b", `has the argument "a // b"`},
		{"name a@b", `has the argument "a@b"`},
		{"optional", ""},
		{"optional true", `takes no argument, and has "true": write //idem:optional`},
		{"tx", ""},
		{"tx // with the outbox", ""},
		{"tx serializable", `takes no argument, and has "serializable": write //idem:tx`},
		{"lossy the caches need no order", ""},
		{"lossy", "needs an argument: write //idem:lossy followed by why"},
	}
	tried := map[string]bool{}
	for _, tt := range tests {
		name, _, _ := strings.Cut(tt.directive, " ")
		name, _, _ = strings.Cut(name, "\t")
		tried[name] = true
		t.Run(tt.directive, func(t *testing.T) {
			lines := []string{"//idem:" + tt.directive}
			if name != "key" {
				lines = append(lines, "//idem:key id")
			}
			methods, problems := parse(t, inMethod(lines...))
			if tt.problem != "" {
				expect(t, problems, "4:2: //idem:"+name+" "+tt.problem)
				return
			}
			expect(t, problems)
			if len(methods) != 1 || methods[0].Directives[name].Name != name {
				t.Errorf("the methods are %+v", methods)
			}
		})
	}
	for name := range specs {
		if !tried[name] {
			t.Errorf("nothing was tried for %s", name)
		}
	}
}

func TestNoKey(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"each directive is useless without a key", []string{"//idem:ttl 48h", "//idem:optional", "//idem:tx"}, []string{
			"4:2: //idem:ttl needs an //idem:key on Do: it is the key that makes a method idempotent",
			"5:2: //idem:optional needs an //idem:key on Do",
			"6:2: //idem:tx needs an //idem:key on Do",
		}},
		{"a key without expressions is mistake enough", []string{"//idem:key", "//idem:ttl 48h"}, []string{"4:2: //idem:key needs an argument"}},
		{"so is a misspelt one", []string{"//idem:kye id", "//idem:ttl 48h"}, []string{"4:2: unknown directive //idem:kye; did you mean //idem:key"}},
		{"and one that is no directive", []string{"// idem:key id", "//idem:ttl 48h"}, []string{"4:2: this comment looks like a directive"}},
		{"another mistake does not hide it", []string{"//idem:ttl soon", "//idem:optional"}, []string{
			"4:2: //idem:ttl has",
			"5:2: //idem:optional needs an //idem:key",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			methods, problems := parse(t, inMethod(tt.lines...))
			expect(t, problems, tt.want...)
			if len(methods) != 0 {
				t.Errorf("the methods are %+v", methods)
			}
		})
	}
}

func TestTwice(t *testing.T) {
	methods, problems := parse(t, inMethod("//idem:key id", "//idem:ttl 1h", "//idem:key other", "//idem:ttl 1h", "//idem:tx", "//idem:tx"))
	expect(t, problems,
		"6:2: second //idem:key for Do; the first is in line 4: keep one",
		"7:2: second //idem:ttl for Do; the first is in line 5: keep one",
		"9:2: second //idem:tx for Do; the first is in line 8: keep one")
	if got := methods[0].Directives["key"].Args; got != "id" {
		t.Errorf("the key is %s", got)
	}
}

func TestWord(t *testing.T) {
	d := Directive{Args: "ask  \tpkg.Found", Arg: token.Position{Offset: 50, Line: 3, Column: 20}}
	rest, ok := d.Word("ask")
	if !ok || rest.Args != "pkg.Found" || rest.Arg != (token.Position{Offset: 56, Line: 3, Column: 26}) {
		t.Errorf("got %+v, %v", rest, ok)
	}
	if rest, ok := d.Word("as"); ok || rest.Args != d.Args {
		t.Errorf("got %+v, %v for a part of the word", rest, ok)
	}
}

// The readers of arguments are given what was checked, and say what they mean.
func TestReaders(t *testing.T) {
	for args, want := range map[string]string{
		"wait":     "false 0s",
		"wait=10s": "false 10s",
		"reject":   "true 0s",
	} {
		reject, wait, err := Pending(args)
		if got := fmt.Sprint(reject, " ", wait); err != nil || got != want {
			t.Errorf("Pending(%q) = %s, %v, want %s", args, got, err, want)
		}
	}
	if d, err := TTL("forever"); err != nil || d != Forever {
		t.Errorf("forever is %d, %v", d, err)
	}
	if d, err := TTL("36h"); err != nil || d.Hours() != 36 {
		t.Errorf("36h is %v, %v", d, err)
	}
	if d := Lease("1500ms"); d.Seconds() != 1.5 {
		t.Errorf("1500ms is %v", d)
	}
}
