package lock

import (
	"go/token"
	"strconv"
	"strings"

	"github.com/idemgen/idem/generator/internal/diag"
	"github.com/idemgen/idem/generator/internal/model"
)

// Header is the first line of every lock file.
const Header = "# What running systems have stored, by operation. Written by idemgen; commit it."

const version = 2

var format = "format " + strconv.Itoa(version)

// Text writes the entries as a file.
func Text(entries []Entry) []byte {
	var b strings.Builder
	b.WriteString(Header + "\n" + format + "\n")
	for _, e := range entries {
		b.WriteString("\noperation " + e.Operation + "\n")
		line := func(words ...string) {
			b.WriteString("\t" + strings.Join(words, " ") + "\n")
		}
		line("package", e.Package)
		if e.Constraint != "" {
			line("build", e.Constraint)
		}
		line("method", e.Method)
		for _, p := range e.Parts {
			line("key", p.Encoding, p.Source)
		}
		for _, a := range e.Fingerprint {
			line("fingerprint", a.Type, a.Source)
		}
		for _, o := range e.Fields {
			words := []string{"fields", o.Name}
			for _, m := range o.Members {
				words = append(words, m.Name+":"+m.Type)
			}
			line(words...)
		}
		line("codec", e.Codec)
		for _, f := range e.Finals {
			line(strings.TrimSuffix("final "+f.Name+" "+f.Type, " "))
		}
		for _, v := range e.Vectors {
			line("vector", v)
		}
		for _, r := range e.Results {
			line("result", r)
		}
		for _, o := range e.Objects {
			line("object", o.Name)
			for _, m := range o.Members {
				line("\t"+m.Name, m.Type)
			}
		}
	}
	return []byte(b.String())
}

// Parse reads a file. A line that it does not understand is reported.
func Parse(path string, text []byte) ([]Entry, []diag.Diagnostic) {
	p := parser{path: path}
	for line := range strings.Lines(string(text)) {
		p.number++
		p.line(strings.TrimRight(line, "\r\n"))
	}
	seen := map[ID]bool{}
	for _, e := range p.entries {
		if seen[e.ID()] {
			p.report(e.Position.Line, "the operation %s stands here twice: remove one of the blocks and run idemgen again", e.Operation)
		}
		seen[e.ID()] = true
	}
	sort(p.entries)
	return p.entries, p.problems
}

type parser struct {
	path     string
	number   int // of the line
	known    bool
	entries  []Entry
	problems []diag.Diagnostic
}

func (p *parser) report(line int, message string, args ...any) {
	p.problems = append(p.problems, diag.At(token.Position{Filename: p.path, Line: line, Column: 1}, message, args...))
}

func (p *parser) line(line string) {
	if len(p.problems) > 0 {
		return // what follows is a consequence
	}
	operation, isOperation := strings.CutPrefix(line, "operation ")
	switch {
	case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
	case !p.known:
		p.format(line)
	case isOperation:
		p.entries = append(p.entries, Entry{
			Operation: operation,
			Position:  model.Position{File: p.path, Line: p.number, Column: 1},
		})
	case !strings.HasPrefix(line, "\t") || len(p.entries) == 0 || !p.entries[len(p.entries)-1].read(line[1:]):
		p.report(p.number, "%q means nothing here: after a merge with conflicts, take either side of each and run idemgen again", line)
	}
}

// format reads the line that says how the rest is to be read.
func (p *parser) format(line string) {
	number, _ := strings.CutPrefix(line, "format ")
	n, err := strconv.Atoi(number)
	switch p.known = line == format; {
	case p.known:
	case err == nil && n < version:
		p.report(p.number, "%q is how an idemgen wrote the file that was never released: remove it and run idemgen, which records the operations as they are now", line)
	default:
		p.report(p.number, "%q is not a format that this idemgen knows, which is %q: use the version that wrote the file, or a later one", line, format)
	}
}

// read takes in a line of the entry's block.
func (e *Entry) read(line string) (ok bool) {
	if member, inside := strings.CutPrefix(line, "\t"); inside {
		// A name can hold spaces, a type cannot.
		i := strings.LastIndexByte(member, ' ')
		if i < 0 || len(e.Objects) == 0 {
			return false
		}
		o := &e.Objects[len(e.Objects)-1]
		o.Members = append(o.Members, model.Member{Name: member[:i], Type: member[i+1:]})
		return true
	}
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "package":
		e.Package = rest
	case "build":
		e.Constraint = rest
	case "method":
		e.Method = rest
	case "key":
		encoding, source, _ := strings.Cut(rest, " ")
		e.Parts = append(e.Parts, Part{encoding, source})
	case "fingerprint":
		typ, source, _ := strings.Cut(rest, " ")
		e.Fingerprint = append(e.Fingerprint, Argument{typ, source})
	case "fields":
		return e.readFields(strings.Fields(rest))
	case "codec":
		e.Codec = rest
	case "final":
		// A name can hold spaces if it is the one of a type.
		name, typ := rest, ""
		if i := strings.LastIndexByte(rest, ' '); i >= 0 {
			name, typ = rest[:i], rest[i+1:]
		}
		e.Finals = append(e.Finals, Final{name, typ})
	case "vector":
		e.Vectors = append(e.Vectors, rest)
	case "result":
		e.Results = append(e.Results, rest)
	case "object":
		e.Objects = append(e.Objects, model.Object{Name: rest})
	default:
		return false
	}
	return true
}

// readFields takes in a struct of the fingerprint: its name and its fields.
func (e *Entry) readFields(words []string) (ok bool) {
	if len(words) == 0 {
		return false
	}
	o := model.Object{Name: words[0]}
	for _, word := range words[1:] {
		name, typ, ok := strings.Cut(word, ":")
		if !ok {
			return false
		}
		o.Members = append(o.Members, model.Member{Name: name, Type: typ})
	}
	e.Fields = append(e.Fields, o)
	return true
}
