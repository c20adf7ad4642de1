// Package generator turns annotated interfaces into wrappers.
//
// Making and writing are apart: a Result holds what the files should be,
// Changes compares that with the disk, and only Commit writes.
package generator

import "github.com/idemgen/idem/generator/internal/model"

// A Result is what a run found, before anything was written.
type Result struct {
	Outputs []Output // sorted by path
	Orphans []string // files of ours whose source is gone, sorted
}

// An Output is a generated file.
type Output struct {
	Path   string // absolute
	Text   []byte
	Source model.Position // of the first interface that it wraps
}
