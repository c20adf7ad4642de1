package lock

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/idemgen/idem/generator/internal/diag"
)

// rivals reports whether two entries are of one operation that two packages
// declare. Those of different build configurations are never in one program.
func rivals(a, b *Entry) bool {
	return a.Operation == b.Operation && a.Package != b.Package && !apart(a, b)
}

// apart reports whether the files of two entries have different build
// constraints.
func apart(a, b *Entry) bool {
	return a.Constraint != "" && b.Constraint != "" && a.Constraint != b.Constraint
}

// Rivals returns the recorded entries of packages that are not in the run, and
// whose operations are those of current entries in other packages.
func Rivals(recorded, current []Entry, inRun func(pkg string) bool) []Entry {
	var list []Entry
	for i := range recorded {
		if !inRun(recorded[i].Package) && slices.ContainsFunc(current, func(e Entry) bool { return rivals(&e, &recorded[i]) }) {
			list = append(list, recorded[i])
		}
	}
	return list
}

// Shared reports the current entries whose operation another package declares
// as well: among them the later one, which is one that was not recorded before
// any that was. Others are entries of packages that are not in the run. Files
// are named from root.
func Shared(recorded, current, others []Entry, root string) []Drift {
	known := map[ID]bool{}
	for i := range recorded {
		known[recorded[i].ID()] = true
	}
	rank := func(e *Entry) int {
		if known[e.ID()] {
			return 0
		}
		return 1
	}
	sorted := slices.SortedStableFunc(slices.Values(current), func(a, b Entry) int {
		return cmp.Or(rank(&a)-rank(&b),
			strings.Compare(a.Position.File, b.Position.File), cmp.Compare(a.Position.Line, b.Position.Line))
	})
	earlier := slices.Clone(others)
	var drifts []Drift
	for _, e := range sorted {
		if i := slices.IndexFunc(earlier, func(o Entry) bool { return rivals(&o, &e) }); i >= 0 {
			drifts = append(drifts, drift(e.Package, e.Position, "the operation %s is already the one of %s: "+
				"two methods with one name would replay each other's results; choose another //idem:name%s",
				e.Operation, earlier[i].whereabouts(root), earlier[i].unless()))
		}
		earlier = append(earlier, e)
	}
	return drifts
}

// isRecorded reports whether the entry was read from a lock file.
func (e *Entry) isRecorded() bool { return filepath.Base(e.Position.File) == Name }

// whereabouts names the method and where it is.
func (e *Entry) whereabouts(root string) string {
	if e.isRecorded() {
		return fmt.Sprintf("%s of %s, as %s records", e.name(), e.Package, Name)
	}
	return fmt.Sprintf("%s of %s (%s:%d)", e.name(), e.Package, filepath.ToSlash(diag.Relative(root, e.Position.File)), e.Position.Line)
}

// unless says what to do if what is recorded is not true any more.
func (e *Entry) unless() string {
	if e.isRecorded() {
		return ", or run idemgen on both packages at once if the method moved"
	}
	return ""
}
