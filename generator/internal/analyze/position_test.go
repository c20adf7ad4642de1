package analyze

import (
	"strings"
	"testing"
)

const misspelt = `package p

type P interface {
	//idem:key ä, idd + "é", strings.X
	Do(ä, id string) (r func(), err error)
}

type IdempotentP int
`

// Columns count bytes, as compilers do.
func TestPositionsCountBytes(t *testing.T) {
	text := strings.Replace(misspelt, "\ntype IdempotentP int\n", "", 1)
	want := `p.go:4:17: undefined: idd (the parameters are ä, id)
p.go:4:29: undefined: strings (the parameters are ä, id)
p.go:5:23: result 1 of Do (func()) cannot be recorded and replayed: func(): it is a function: return a value that encoding/json brings back whole, or name another //idem:codec
`
	if got := said(t, text); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	crlf := strings.ReplaceAll(text, "\n", "\r\n")
	if got := said(t, crlf); got != want {
		t.Errorf("with lines that end as on Windows, got\n%swant\n%s", got, want)
	}
}

// Positions are those of the file, not those that a //line comment claims, so
// that they can be opened; and both parses of a file agree on what they speak
// of.
func TestPositionsIgnoreLineComments(t *testing.T) {
	for _, text := range []string{
		"//line other.y:100\n" + misspelt,
		strings.Replace(misspelt, "type P ", "//line /tmp/other.y:100:20\ntype P ", 1),
	} {
		if got, want := said(t, text), "p.go:9:6: IdempotentP is declared here, and the wrapper of P (line 4) needs that name: rename one of the two\n"; got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
		text = strings.Replace(text, "\ntype IdempotentP int\n", "", 1)
		if got := said(t, text); !strings.HasPrefix(got, "p.go:5:17: undefined: idd") || strings.Count(got, "p.go:") != 3 {
			t.Errorf("got\n%s", got)
		}
	}
}
