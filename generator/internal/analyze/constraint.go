package analyze

import (
	"go/ast"
	"go/build/constraint"
	"path/filepath"
	"strings"
)

// constraintOf returns the build constraint of a source file: its //go:build
// line, what its name implies, and cgo if it imports "C". An output has another
// name, so that it has to say what the name of the source implied.
func constraintOf(path string, f *ast.File) string {
	var all []constraint.Expr
	if e := buildLine(f); e != nil {
		all = append(all, e)
	}
	for _, tag := range nameTags(filepath.Base(path)) {
		all = append(all, &constraint.TagExpr{Tag: tag})
	}
	for _, spec := range f.Imports {
		if importPath(spec) == "C" {
			all = append(all, &constraint.TagExpr{Tag: "cgo"})
		}
	}
	var joined constraint.Expr
	seen := map[string]bool{}
	for _, e := range all {
		switch {
		case seen[e.String()]:
		case joined == nil:
			joined = e
		default:
			joined = &constraint.AndExpr{X: joined, Y: e}
		}
		seen[e.String()] = true
	}
	if joined == nil {
		return ""
	}
	return joined.String()
}

// buildLine finds the //go:build line, which stands above the package clause.
func buildLine(f *ast.File) constraint.Expr {
	for _, group := range f.Comments {
		if group.Pos() >= f.Package {
			return nil
		}
		for _, c := range group.List {
			if !constraint.IsGoBuild(c.Text) {
				continue
			}
			if e, err := constraint.Parse(c.Text); err == nil {
				return e
			}
		}
	}
	return nil
}

// nameTags returns the system and the architecture that a file name asks for,
// by the rules of go/build: name_GOOS, name_GOARCH or name_GOOS_GOARCH.
func nameTags(name string) []string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".go"), "_test")
	// What stands before the first underscore never counts.
	_, rest, ok := strings.Cut(name, "_")
	if !ok {
		return nil
	}
	words := strings.Split(rest, "_")
	last := words[len(words)-1]
	switch {
	case len(words) >= 2 && systems[words[len(words)-2]] && architectures[last]:
		return words[len(words)-2:]
	case systems[last] || architectures[last]:
		return []string{last}
	default:
		return nil
	}
}

var (
	systems       = set("aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 windows zos")
	architectures = set("386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le mips64p32 mips64p32le ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm")
)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}
