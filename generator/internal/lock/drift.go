package lock

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/idemgen/idem/generator/internal/diag"
	"github.com/idemgen/idem/generator/internal/model"
)

// A Drift is a change of the code that running systems notice.
type Drift struct {
	Package string // that has to change, or be accepted
	diag.Diagnostic
}

// What a drift comes to.
const (
	runsAgain = "a retry that crosses the deploy would run again"
	conflicts = "a retry that crosses the deploy would be refused with ErrKeyReused"
	breaks    = "a stored result would not decode"
	loses     = "a replay of a stored result would lose it"

	breaksError = "a stored error would not decode"
	losesError  = "a replay of a stored error would lose it"

	accept = "if that is intended, run idemgen -accept"
)

// version says how to begin anew, so that nothing old is taken for new.
func (e *Entry) version() string {
	return fmt.Sprintf("if that is intended, give the method a name of its own, as in //idem:name %s.v2, and run idemgen -accept", e.Operation)
}

// Compare finds where the current entries drift from the recorded ones, of the
// packages that are judged. A recorded entry of which only a configuration
// other than the current one can know is left alone.
func Compare(recorded, current []Entry, judged func(*Entry) bool) []Drift {
	var drifts []Drift
	pairs, gone, _ := match(recorded, current, judged)
	for i := range current {
		old := pairs[i]
		if old == nil {
			continue
		}
		for _, text := range old.changes(&current[i]) {
			drifts = append(drifts, drift(current[i].Package, current[i].Position, "%s drifts from %s: %s", old.Operation, Name, text))
		}
	}
	for _, old := range gone {
		i := successor(&old, current, func(i int) bool { return pairs[i] == nil && !names(recorded, current[i].Operation) })
		if i < 0 {
			drifts = append(drifts, drift(old.Package, old.Position,
				"the operation %s (%s of %s) is gone: what is stored under its keys would not be replayed, and %s: keep its name with //idem:name %s on the method that replaces it; %s",
				old.Operation, old.name(), old.Package, runsAgain, old.Operation, accept))
			continue
		}
		pairs[i] = &old
		drifts = append(drifts, drift(current[i].Package, current[i].Position,
			"the operation %s drifts from %s: it is called %s now, so that its keys are others, and %s: keep its name with //idem:name %s; %s",
			old.Operation, Name, current[i].Operation, runsAgain, old.Operation, accept))
	}
	return drifts
}

// successor finds the current entry that looks most like one that is gone, by
// index, -1 if none of the free ones does.
func successor(old *Entry, current []Entry, free func(i int) bool) int {
	found := -1
	for i := range current {
		if !free(i) || !slices.Equal(encodings(&current[i]), encodings(old)) {
			continue
		}
		if method(&current[i]) == method(old) {
			return i
		}
		if found < 0 {
			found = i
		}
	}
	return found
}

// method is the name of the method alone.
func method(e *Entry) string {
	_, name, _ := strings.Cut(e.name(), ".")
	return name
}

func drift(pkg string, at model.Position, message string, args ...any) Drift {
	return Drift{pkg, diag.At(token.Position{Filename: at.File, Line: at.Line, Column: at.Column}, message, args...)}
}

func names(entries []Entry, operation string) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool { return e.Operation == operation })
}

// match finds for recorded entries the current ones, by index, and those that
// have none. What is outdated has none either, but its operation is one of
// another package, for which it is recorded already.
func match(recorded, current []Entry, judged func(*Entry) bool) (pairs map[int]*Entry, gone, outdated []Entry) {
	pairs = map[int]*Entry{}
	var rest []*Entry
	for i := range recorded {
		old := &recorded[i]
		if n := slices.IndexFunc(current, func(e Entry) bool { return e.ID() == old.ID() }); n >= 0 {
			pairs[n] = old
		} else if judged(old) {
			rest = append(rest, old)
		}
	}
	for _, old := range rest {
		// A method that moved to another package or file keeps its name.
		n := slices.IndexFunc(current, func(e Entry) bool { return e.Operation == old.Operation && !apart(&e, old) })
		switch {
		case n >= 0 && pairs[n] == nil:
			pairs[n] = old
		case n >= 0 && current[n].Package != old.Package,
			slices.ContainsFunc(recorded, func(e Entry) bool { return rivals(&e, old) && !judged(&e) }):
			outdated = append(outdated, *old)
		case old.present(current):
			gone = append(gone, *old)
		}
	}
	return pairs, gone, outdated
}

// present reports whether the current configuration would know the entry: it
// holds entries of its package under the same constraint, or there is none.
func (e *Entry) present(current []Entry) bool {
	return e.Constraint == "" || slices.ContainsFunc(current, func(c Entry) bool {
		return c.Package == e.Package && c.Constraint == e.Constraint
	})
}

// Merge returns what should be recorded after a run: the current entries, and
// of the recorded ones those that the run does not replace. What is gone stays,
// unless that was accepted.
func Merge(recorded, current []Entry, judged func(*Entry) bool, accepted bool) []Entry {
	pairs, gone, outdated := match(recorded, current, judged)
	replaced := map[ID]bool{}
	for _, old := range pairs {
		replaced[old.ID()] = true
	}
	for _, old := range outdated {
		replaced[old.ID()] = true
	}
	for _, old := range gone {
		replaced[old.ID()] = accepted
	}
	merged := slices.DeleteFunc(slices.Clone(recorded), func(e Entry) bool { return replaced[e.ID()] })
	merged = append(merged, current...)
	sort(merged)
	return merged
}

// name is the method without its parameters.
func (e *Entry) name() string {
	name, _, _ := strings.Cut(e.Method, "(")
	return name
}

func encodings(e *Entry) []string {
	var list []string
	for _, p := range e.Parts {
		list = append(list, p.Encoding)
	}
	return list
}

// changes says what running systems notice of a change from e to now.
func (e *Entry) changes(now *Entry) []string {
	texts := e.keyChanges(now)
	if slices.Equal(e.Vectors, now.Vectors) {
		// Else no retry finds a record that it could conflict with.
		texts = append(texts, e.fingerprintChanges(now)...)
	}
	texts = append(texts, e.finalChanges(now)...)
	if e.Codec != now.Codec {
		return append(texts, fmt.Sprintf("results are recorded as %s now, and were as %s: %s: write //idem:codec %s; %s",
			now.Codec, e.Codec, breaks, e.Codec, e.version()))
	}
	return append(texts, e.resultChanges(now)...)
}

// keyChanges compares the parts. Only the first difference is told: the others
// often follow from it.
func (e *Entry) keyChanges(now *Entry) []string {
	tell := func(what, keep string) []string {
		return []string{fmt.Sprintf("%s: %s: %s; %s", what, runsAgain, keep, e.version())}
	}
	was, is := e.sources(), now.sources()
	same := e.same(now, was, is)
	switch {
	case len(was) != len(is):
		return tell(fmt.Sprintf("its key has %s now, and had %s", count(len(is), "part"), count(len(was), "part")), "restore the parts")
	case slices.Contains(same, false) && permuted(e.numbered(was), now.numbered(is)):
		return tell(fmt.Sprintf("the key parts are in the order %s now, and were in the order %s", strings.Join(is, ", "), strings.Join(was, ", ")), "restore the order")
	}
	for i, p := range now.Parts {
		if p.Encoding != e.Parts[i].Encoding && !renamed(e.Parts[i].Encoding, p.Encoding) {
			return tell(fmt.Sprintf("the key part %s is encoded as %s now, and was as %s", p.Source, p.Encoding, e.Parts[i].Encoding), "restore its type")
		}
		if !same[i] {
			return tell(fmt.Sprintf("key part %d is %s now, and was %s", i+1, p.Source, e.Parts[i].Source),
				"if it has another value, restore it")
		}
	}
	if !slices.Equal(e.Vectors, now.Vectors) && len(e.Vectors) > 0 {
		return tell("the keys of sample values are others than those recorded", "restore what the key is made of")
	}
	return nil
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
